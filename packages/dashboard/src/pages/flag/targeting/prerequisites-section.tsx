import type { FlagSummary } from '@ff/protocol/management'
import { X } from 'lucide-react'
import { useDeferredValue, useState } from 'react'
import { Button } from '../../../components/button.tsx'
import { ComboBox } from '../../../components/combo-box.tsx'
import { ChoiceList } from '../../../components/fields/choice-list.tsx'
import { SentenceText } from '../../../components/text/sentence-text.tsx'
import type { Prerequisite } from '../../../draft/configuration.ts'
import { prerequisiteSentence } from '../../../draft/sentence.ts'
import { targeting } from '../../../messages/en/targeting.ts'
import { useFlag, useFlagSummaries } from '../../../queries/use-queries.ts'
import { ChangedMark } from '../editing/changed-mark.tsx'
import { faultBelow, useEditing } from '../editing/editing.ts'
import { variationOptions } from '../editing/variation-select.tsx'
import { Section } from './section.tsx'
import styles from './targeting.module.css'

const { prerequisites: texts } = targeting
const LIMIT = 20

/** The flags that must serve one of the listed variations before this flag is evaluated. */
export function PrerequisitesSection() {
  const { handle, refusal, issues } = useEditing()
  const { prerequisites } = handle.draft.current.state
  const fault = prerequisites.length === 0 ? undefined : faultBelow(issues, 'state.prerequisites')
  const general = issues.find(({ path }) => path === '')?.message
  return (
    <Section
      title={texts.title}
      mark={<ChangedMark fields={[{ part: 'state', field: 'prerequisites' }]} name={texts.title} />}
      action={refusal === undefined && <AddPrerequisite />}
    >
      <p className={styles.muted}>{prerequisites.length === 0 ? texts.none : texts.hint}</p>
      <ul className={styles.rows}>
        {prerequisites.map((each) => (
          <PrerequisiteRow key={each.flagId} prerequisite={each} />
        ))}
      </ul>
      {fault !== undefined && <p className={styles.fault}>{fault}</p>}
      {general !== undefined && (
        <p className={styles.fault}>
          {targeting.serverFault} {general}
        </p>
      )}
    </Section>
  )
}

function PrerequisiteRow({ prerequisite }: { readonly prerequisite: Prerequisite }) {
  const { handle, names, refusal } = useEditing()
  const { flagId, variationIds } = prerequisite
  const flag = useFlag(handle.flag.projectId, flagId).data?.data
  const name = names.flag(flagId)
  if (refusal !== undefined) {
    return (
      <li className={styles.row}>
        <SentenceText sentence={prerequisiteSentence(prerequisite, names)} />
      </li>
    )
  }
  return (
    <li className={styles.row}>
      <span className={styles.content}>
        <strong>
          <bdi>{name}</bdi>
        </strong>{' '}
        {texts.serves}
      </span>
      <ChoiceList
        label={texts.addVariation}
        options={flag === undefined ? [] : variationOptions(flag)}
        chosen={variationIds}
        onChange={(ids) => handle.dispatch({ type: 'setPrerequisite', flagId, variationIds: ids })}
      />
      <Button
        variant="ghost"
        aria-label={texts.remove(name)}
        onPress={() => handle.dispatch({ type: 'removePrerequisite', flagId })}
      >
        <X size={16} aria-hidden="true" />
      </Button>
    </li>
  )
}

function AddPrerequisite() {
  const { handle } = useEditing()
  const [text, setText] = useState('')
  const [round, setRound] = useState(0)
  const search = useDeferredValue(text.trim())
  const query = { limit: LIMIT, ...(search === '' ? {} : { search }) }
  const found = useFlagSummaries(handle.flag.projectId, query).data?.data ?? []
  const { prerequisites } = handle.draft.current.state
  const isFree = ({ id }: FlagSummary) =>
    id !== handle.flag.id && !prerequisites.some(({ flagId }) => flagId === id)
  const choose = (id: string) => {
    const flag = found.find((each) => each.id === id)
    const variationIds = flag?.variations.slice(0, 1).map((each) => each.id) ?? []
    handle.dispatch({ type: 'setPrerequisite', flagId: id, variationIds })
    setText('')
    setRound(round + 1)
  }
  return (
    <ComboBox
      key={round}
      label={texts.add}
      isLabelHidden
      placeholder={texts.add}
      options={found.filter(isFree).map(({ id, key }) => ({ id, name: key }))}
      value={text}
      onChange={setText}
      onChoose={choose}
    />
  )
}
