import { Eye, EyeOff } from 'lucide-react'
import { useState } from 'react'
import { Button } from '../../components/button.tsx'
import { TextField } from '../../components/text-field.tsx'
import { messages } from '../../messages/messages.ts'

/** The properties of `PasswordField`. */
export interface PasswordFieldProps {
  readonly label: string
  readonly autoComplete: 'current-password' | 'new-password'
  readonly value: string
  readonly onChange: (value: string) => void
  readonly hint?: string | undefined
  readonly error?: string | undefined
}

/** A password field with a button that shows the password. */
export function PasswordField(props: PasswordFieldProps) {
  const [isShown, setShown] = useState(false)
  const label = isShown ? messages.session.hidePassword : messages.session.showPassword
  return (
    <TextField
      {...props}
      name="password"
      type={isShown ? 'text' : 'password'}
      isRequired
      after={
        <Button variant="ghost" aria-label={label} onPress={() => setShown(!isShown)}>
          {isShown ? <EyeOff size={16} /> : <Eye size={16} />}
        </Button>
      }
    />
  )
}
