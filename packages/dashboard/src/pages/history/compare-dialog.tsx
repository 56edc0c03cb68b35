import type { Environment } from '@ff/protocol/management'
import { useState } from 'react'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { NumberField } from '../../components/number-field.tsx'
import { messages } from '../../messages/messages.ts'
import { ChangesOfVersions } from './changes-of-versions.tsx'
import styles from './history.module.css'

const { history } = messages

/** The properties of `CompareDialog`. */
export interface CompareDialogProps {
  readonly environment: Environment
  readonly flagId: string | undefined
  readonly from: number
  readonly to: number
  readonly onClose: () => void
}

/** The differences of any two versions of an environment. */
export function CompareDialog({ environment, flagId, onClose, ...initial }: CompareDialogProps) {
  const [from, setFrom] = useState<number | undefined>(initial.from)
  const [to, setTo] = useState<number | undefined>(initial.to)
  const place = { projectId: environment.projectId, environmentId: environment.id }
  return (
    <Dialog
      title={history.compareTitle}
      isOpen
      onClose={onClose}
      isWide
      actions={<Button onPress={onClose}>{messages.components.close}</Button>}
    >
      <div className={styles.versions}>
        <NumberField label={history.from} value={from} onChange={setFrom} minValue={1} />
        <NumberField label={history.to} value={to} onChange={setTo} minValue={1} />
      </div>
      {isVersion(from) && isVersion(to) ? (
        <ChangesOfVersions {...place} flagId={flagId} from={from} to={to} />
      ) : (
        <p className={styles.muted}>{history.versionMissing}</p>
      )}
    </Dialog>
  )
}

function isVersion(value: number | undefined): value is number {
  return Number.isInteger(value) && (value ?? 0) >= 1
}
