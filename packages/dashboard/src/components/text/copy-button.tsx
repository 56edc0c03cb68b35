import { Check, Copy } from 'lucide-react'
import { useState } from 'react'
import { messages } from '../../messages/messages.ts'
import { Button } from '../button.tsx'
import { showToast } from '../toast.tsx'

/** The properties of `CopyButton`. */
export interface CopyButtonProps {
  readonly text: string
  readonly label: string
}

/** A button that copies a text, and then says so. */
export function CopyButton({ text, label }: CopyButtonProps) {
  const [copied, setCopied] = useState<string>()
  const isCopied = copied === text
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text)
      setCopied(text)
    } catch {
      // Without https, or without permission, there is no clipboard.
      showToast(messages.components.copyFailed)
    }
  }
  return (
    <Button variant="ghost" aria-label={label} onPress={copy}>
      {isCopied ? <Check size={16} aria-hidden="true" /> : <Copy size={16} aria-hidden="true" />}
      <span className="visually-hidden" aria-live="polite">
        {isCopied ? messages.components.copied : ''}
      </span>
    </Button>
  )
}
