import { Switch } from '../../../components/switch.tsx'
import { TextField } from '../../../components/text-field.tsx'
import { fields as texts } from '../../../messages/en/fields.ts'
import { useMay } from '../../../session/use-session.ts'
import styles from '../fields/fields.module.css'
import { SaveBar } from '../fields/save-bar.tsx'
import { useFlagFields } from '../fields/use-flag-fields.ts'
import { ArchiveCard } from './archive-card.tsx'
import { DeleteCard } from './delete-card.tsx'
import type { SettingsTabProps } from './settings-tab-props.ts'
import { TagsField } from './tags-field.tsx'

const { settings: words } = texts

/** The settings of a flag: its name, description, tags and visibility; archive and delete. */
export function SettingsTab({ flag, flagEtag }: SettingsTabProps) {
  const fields = useFlagFields(flag, flagEtag)
  const { allowed } = useMay('flags.write')
  const { name, description, tags, clientVisible } = fields.draft.current
  const issues = [...fields.issues, ...(fields.failure?.issues ?? [])]
  const faultOf = (field: string) =>
    issues.find(({ path }) => path === field || path.startsWith(`${field}.`))?.message
  return (
    <div className={styles.form}>
      <div className={styles.card}>
        <TextField
          label={words.name}
          value={name}
          isReadOnly={!allowed}
          onChange={(next) => fields.dispatch({ type: 'setFlag', changes: { name: next } })}
          error={faultOf('name')}
        />
        <TextField
          label={words.description}
          isMultiline
          value={description}
          isReadOnly={!allowed}
          onChange={(next) => fields.dispatch({ type: 'setFlag', changes: { description: next } })}
          error={faultOf('description')}
        />
        <TagsField
          tags={tags}
          isReadOnly={!allowed}
          onChange={(next) => fields.dispatch({ type: 'setFlag', changes: { tags: [...next] } })}
          error={faultOf('tags')}
        />
        <Switch
          isSelected={clientVisible}
          isDisabled={!allowed}
          onChange={(next) =>
            fields.dispatch({ type: 'setFlag', changes: { clientVisible: next } })
          }
        >
          {words.clientVisible}
        </Switch>
      </div>
      <ArchiveCard flag={flag} flagEtag={flagEtag} />
      <DeleteCard flag={flag} />
      <SaveBar fields={fields} />
    </div>
  )
}
