import { lazyRouteComponent } from '@tanstack/react-router'
import { Ellipsis, GripVertical } from 'lucide-react'
import { Suspense } from 'react'
import { Button as AriaButton, GridListItem } from 'react-aria-components'
import { Button } from '../../../components/button.tsx'
import { Menu } from '../../../components/menu.tsx'
import { Skeleton } from '../../../components/states.tsx'
import { SentenceText } from '../../../components/text/sentence-text.tsx'
import type { Rule } from '../../../draft/configuration.ts'
import { ruleSentence } from '../../../draft/sentence.ts'
import { targeting } from '../../../messages/en/targeting.ts'
import { textOf } from '../../../messages/phrases/fragment.ts'
import { classNames } from '../../../style/class-names.ts'
import { ChangedMark } from '../editing/changed-mark.tsx'
import { faultBelow, useEditing } from '../editing/editing.ts'
import styles from './targeting.module.css'

const { rules: texts } = targeting
const RuleEditor = lazyRouteComponent(() => import('./rule-editor.tsx'), 'RuleEditor')

/** Loads the editor of rules before a rule is opened. */
export async function loadRuleEditor(): Promise<void> {
  await RuleEditor.preload?.()
}

/** The properties of `RuleCard`. */
export interface RuleCardProps {
  readonly rule: Rule
  readonly index: number
  readonly isOpen: boolean
  readonly isDraggable: boolean
  readonly onToggle: () => void
  readonly onMove: (by: 1 | -1) => void
  readonly onMoveTo: () => void
}

/** A rule as a sentence; if it is open, with its editor. */
export function RuleCard(props: RuleCardProps) {
  const { rule, index, isOpen, isDraggable } = props
  const { handle, names, warnings, refusal } = useEditing()
  const sentence = ruleSentence(rule, handle.draft.current, names)
  const own = warnings.filter(({ ruleId }) => ruleId === rule.id)
  const isUnreachable = own.some(({ kind }) => kind === 'unreachable')
  return (
    <GridListItem
      id={rule.id}
      textValue={`${texts.position(index)} ${textOf(sentence)}`}
      className={classNames(styles.rule, isUnreachable && styles.unreachable)}
    >
      <div className={styles.summary}>
        {refusal === undefined && (
          <AriaButton
            slot="drag"
            className={styles.grip ?? ''}
            aria-label={texts.drag(rule.name)}
            isDisabled={!isDraggable}
          >
            <GripVertical size={16} aria-hidden="true" />
          </AriaButton>
        )}
        <span className={styles.position}>{texts.position(index)}</span>
        <div className={styles.content}>
          <span className={styles.name}>
            <bdi>{rule.name}</bdi>
          </span>
          <SentenceText sentence={sentence} />
        </div>
        <RuleActions {...props} />
      </div>
      {own.map(({ kind, sentence: words }) => (
        <p key={kind} className={styles.warning}>
          <SentenceText sentence={words} />
        </p>
      ))}
      {!isOpen && <RuleFault rule={rule} index={index} />}
      {isOpen && (
        <Suspense fallback={<Skeleton rows={2} />}>
          <RuleEditor ruleId={rule.id} />
        </Suspense>
      )}
    </GridListItem>
  )
}

function RuleFault({ rule, index }: Pick<RuleCardProps, 'rule' | 'index'>) {
  const { handle, issues } = useEditing()
  const rollout = handle.draft.current.rollouts.findIndex(({ id }) => id === rule.rolloutId)
  const fault =
    faultBelow(issues, `targetingRules.${index}`) ??
    (rollout === -1 ? undefined : faultBelow(issues, `rollouts.${rollout}`))
  return fault === undefined ? null : <p className={styles.fault}>{fault}</p>
}

function RuleActions({ rule, isOpen, onToggle, onMove, onMoveTo }: RuleCardProps) {
  const { handle, refusal } = useEditing()
  const remove = () => handle.dispatch({ type: 'removeRule', ruleId: rule.id })
  const fields = [
    { part: 'rule', id: rule.id },
    ...(rule.rolloutId === null ? [] : [{ part: 'rollout', id: rule.rolloutId } as const]),
  ] as const
  return (
    <div className={styles.actions}>
      <ChangedMark fields={fields} name={rule.name} />
      <Button
        disabledReason={refusal}
        onPress={onToggle}
        aria-expanded={isOpen}
        {...(isOpen ? {} : { 'aria-label': texts.edit(rule.name) })}
      >
        {isOpen ? texts.done : targeting.targets.edit}
      </Button>
      {refusal === undefined && (
        <Menu
          label={texts.actions(rule.name)}
          trigger={
            <Button variant="ghost" aria-label={texts.actions(rule.name)}>
              <Ellipsis size={16} aria-hidden="true" />
            </Button>
          }
          actions={[
            { id: 'up', name: texts.moveUp, onAction: () => onMove(-1) },
            { id: 'down', name: texts.moveDown, onAction: () => onMove(1) },
            { id: 'to', name: texts.moveTo, onAction: onMoveTo },
            { id: 'remove', name: texts.remove, onAction: remove },
          ]}
        />
      )}
    </div>
  )
}
