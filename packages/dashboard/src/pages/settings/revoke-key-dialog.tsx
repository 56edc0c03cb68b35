import type { SdkKey } from '@ff/protocol/management'
import { useQueryClient } from '@tanstack/react-query'
import { ConfirmDialog } from '../../components/dialog.tsx'
import { ErrorState } from '../../components/states.tsx'
import { showToast } from '../../components/toast.tsx'
import { messages } from '../../messages/messages.ts'
import { queryKeys } from '../../queries/query-keys.ts'
import { useAction } from '../../queries/use-action.ts'
import { useApi } from '../../session/use-session.ts'

const { keys: texts } = messages

/** The properties of `RevokeKeyDialog`. */
export interface RevokeKeyDialogProps {
  readonly sdkKey: SdkKey
  readonly onClose: () => void
}

/** The dialog that asks before an SDK key becomes invalid. */
export function RevokeKeyDialog({ sdkKey, onClose }: RevokeKeyDialogProps) {
  const api = useApi()
  const queryClient = useQueryClient()
  const { run, isPending, error } = useAction()
  const { id: keyId, projectId, environmentId, name, prefix } = sdkKey
  const revoke = () =>
    run(async () => {
      await api.call('revokeSdkKey', { params: { projectId, environmentId, keyId } })
      await queryClient.invalidateQueries({
        queryKey: queryKeys.sdkKeys(projectId, environmentId),
      })
      showToast(texts.revokedToast(name))
      onClose()
    })
  return (
    <ConfirmDialog
      title={texts.revokeOf(name)}
      isOpen
      onClose={onClose}
      confirm={texts.revokeKey}
      onConfirm={revoke}
      isDangerous
      isPending={isPending}
    >
      <p>{texts.revokeHint(prefix)}</p>
      {error !== undefined && <ErrorState title={texts.notRevoked} error={error} />}
    </ConfirmDialog>
  )
}
