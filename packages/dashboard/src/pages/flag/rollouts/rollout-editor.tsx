import type { ReactNode } from 'react'
import { Select } from '../../../components/select.tsx'
import type { Rollout } from '../../../draft/configuration.ts'
import { targeting } from '../../../messages/en/targeting.ts'
import { ChangedMark } from '../editing/changed-mark.tsx'
import { useEditing } from '../editing/editing.ts'
import { GradualEditor } from './gradual-editor.tsx'
import { MovesLine } from './moves-line.tsx'
import { PercentageEditor } from './percentage-editor.tsx'
import { RolloutMore } from './rollout-more.tsx'
import type { RolloutPartProps } from './rollout-part.ts'
import styles from './rollouts.module.css'
import { WeightsEditor } from './weights-editor.tsx'

const { rollout: texts } = targeting
const STRATEGIES = (['percentage', 'variant', 'gradual'] as const).map((id) => {
  return { id, name: texts[id] }
})

/** The properties of `RolloutEditor`. */
export interface RolloutEditorProps {
  readonly rollout: Rollout
  /** The control that chooses between a rollout and a variation. */
  readonly serve: ReactNode
}

/** The editor of a rollout: its kind and its shares, and what a change does. */
export function RolloutEditor({ rollout, serve }: RolloutEditorProps) {
  const { handle, issues } = useEditing()
  const { id: rolloutId, strategy } = rollout
  const index = handle.draft.current.rollouts.findIndex(({ id }) => id === rolloutId)
  const changeStrategy = (next: string) => {
    const other = handle.flag.variations.find(({ id }) => id !== rollout.variationId)
    handle.dispatch({
      ...{ type: 'setStrategy', rolloutId, strategy: next as Rollout['strategy'] },
      ...(other === undefined ? {} : { otherVariationId: other.id }),
    })
  }
  const part: RolloutPartProps = {
    rollout,
    onChange: (changes) => handle.dispatch({ type: 'setRollout', rolloutId, changes }),
    faultOf: (field) => {
      const path = `rollouts.${index}.${field}`
      return issues.find((each) => each.path === path || each.path.startsWith(`${path}.`))?.message
    },
  }
  return (
    <div className={styles.rollout}>
      <div className={styles.line}>
        {serve}
        <Select
          label={texts.strategy}
          isLabelHidden
          options={STRATEGIES}
          value={strategy}
          onChange={changeStrategy}
        />
        <ChangedMark fields={[{ part: 'rollout', id: rolloutId }]} name={texts.share} />
      </div>
      {strategy === 'percentage' && <PercentageEditor {...part} />}
      {strategy === 'variant' && <WeightsEditor {...part} />}
      {strategy === 'gradual' && <GradualEditor {...part} />}
      <MovesLine rollout={rollout} />
      <RolloutMore {...part} />
    </div>
  )
}
