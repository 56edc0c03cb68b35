import type { IssuedSdkKey, SdkKey } from '@ff/protocol/management'
import { useQueryClient } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { randomId } from '../../api/random-id.ts'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { Select } from '../../components/select.tsx'
import { ErrorState } from '../../components/states.tsx'
import { messages } from '../../messages/messages.ts'
import { queryKeys } from '../../queries/query-keys.ts'
import { useAction } from '../../queries/use-action.ts'
import { useApi } from '../../session/use-session.ts'
import { issuedKeyDialog } from './issued-key-dialog.tsx'

const { keys: texts, components } = messages
const GRACES = Object.entries(texts.graces).map(([id, name]) => ({ id, name }))
const ONE_DAY = '86400'

/** The properties of `RotateKeyDialog`. */
export interface RotateKeyDialogProps {
  readonly sdkKey: SdkKey
  readonly onClose: () => void
}

/** The dialog that replaces an SDK key by a new one, which it shows once. */
export function RotateKeyDialog({ sdkKey, onClose }: RotateKeyDialogProps) {
  const { grace, setGrace, issued, action, rotate } = useRotation(sdkKey)
  if (issued !== undefined) return <Dialog {...issuedKeyDialog(issued, onClose)} />
  return (
    <Dialog
      title={texts.rotateOf(sdkKey.name)}
      isOpen
      onClose={onClose}
      actions={
        <>
          <Button onPress={onClose}>{components.cancel}</Button>
          <Button variant="primary" onPress={rotate} isPending={action.isPending}>
            {texts.rotateKey}
          </Button>
        </>
      }
    >
      <p>{texts.rotateHint}</p>
      <Select label={texts.grace} options={GRACES} value={grace} onChange={setGrace} />
      {action.error !== undefined && <ErrorState title={texts.failed} error={action.error} />}
    </Dialog>
  )
}

function useRotation({ id: keyId, projectId, environmentId }: SdkKey) {
  const api = useApi()
  const queryClient = useQueryClient()
  const action = useAction()
  const [grace, setGrace] = useState(ONE_DAY)
  const [issued, setIssued] = useState<IssuedSdkKey>()
  const idempotencyKey = useMemo(() => grace && randomId(), [grace])
  const rotate = () =>
    action.run(async () => {
      const params = { projectId, environmentId, keyId }
      const body = { graceSeconds: Number(grace) }
      setIssued((await api.call('rotateSdkKey', { params, body, idempotencyKey })).data)
      await queryClient.invalidateQueries({
        queryKey: queryKeys.sdkKeys(projectId, environmentId),
      })
    })
  return { grace, setGrace, issued, action, rotate }
}
