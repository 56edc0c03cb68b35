import type { Environment } from '@ff/protocol/management'
import { Select } from '../components/select.tsx'
import { messages } from '../messages/messages.ts'

/** The properties of `EnvironmentSelect`. */
export interface EnvironmentSelectProps {
  readonly environments: readonly Environment[]
  readonly environment: Environment | undefined
  /** Called with the key of the chosen environment. */
  readonly onChange: (key: string) => void
  /** `true` by default. */
  readonly isLabelHidden?: boolean
}

/** The choice of the environment that a page shows. */
export function EnvironmentSelect(props: EnvironmentSelectProps) {
  const { environments, environment, onChange, isLabelHidden = true } = props
  const { environment: label, environmentOption } = messages.shell
  return (
    <Select
      label={label}
      isLabelHidden={isLabelHidden}
      options={environments.map(({ key, name, isProduction }) => {
        return { id: key, name: environmentOption(name, isProduction) }
      })}
      value={environment?.key ?? null}
      onChange={onChange}
      isDisabled={environments.length === 0}
    />
  )
}
