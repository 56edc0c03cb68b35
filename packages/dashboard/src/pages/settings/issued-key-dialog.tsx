import type { IssuedSdkKey } from '@ff/protocol/management'
import { Button } from '../../components/button.tsx'
import type { DialogProps } from '../../components/dialog.tsx'
import { SecretOnce } from '../../components/secret-once.tsx'
import { messages } from '../../messages/messages.ts'
import { KeyCode } from './key-code.tsx'

const { keys: texts } = messages

/**
 * Returns the properties of the dialog that shows a new key once. Only its button closes it. The
 * dialog of the form continues with them, so that the focus returns when it closes.
 */
export function issuedKeyDialog({ name, key }: IssuedSdkKey, onClose: () => void): DialogProps {
  return {
    title: texts.issuedTitle(name),
    isOpen: true,
    onClose,
    canDismiss: false,
    actions: (
      <Button variant="primary" onPress={onClose} autoFocus>
        {texts.close}
      </Button>
    ),
    isWide: key !== null,
    children: key === null ? <p>{texts.secretLost}</p> : <IssuedKey sdkKey={key} />,
  }
}

function IssuedKey({ sdkKey }: { readonly sdkKey: string }) {
  return (
    <>
      <SecretOnce secret={sdkKey} />
      <KeyCode sdkKey={sdkKey} />
    </>
  )
}
