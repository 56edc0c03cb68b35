import type { SdkKey } from '@ff/protocol/management'
import { Button } from '../../components/button.tsx'
import table from '../../components/list/table.module.css'
import { RelativeTime } from '../../components/relative-time.tsx'
import { messages } from '../../messages/messages.ts'
import { useMay } from '../../session/use-session.ts'

const { keys: texts } = messages

/** The properties of `KeysTable`. */
export interface KeysTableProps {
  readonly sdkKeys: readonly SdkKey[]
  readonly onRotate: (sdkKey: SdkKey) => void
  readonly onRevoke: (sdkKey: SdkKey) => void
}

/** The SDK keys of one page of the list, with their actions. */
export function KeysTable({ sdkKeys, ...actions }: KeysTableProps) {
  return (
    <div className={table.frame}>
      <table className={table.table}>
        <thead>
          <tr>
            <th>{texts.name}</th>
            <th>{texts.kind}</th>
            <th>{texts.prefix}</th>
            <th>{texts.lastUsed}</th>
            <th>{texts.expires}</th>
            <th>
              <span className="visually-hidden">{texts.actions}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {sdkKeys.map((sdkKey) => (
            <Row key={sdkKey.id} sdkKey={sdkKey} {...actions} />
          ))}
        </tbody>
      </table>
    </div>
  )
}

interface RowProps extends Omit<KeysTableProps, 'sdkKeys'> {
  readonly sdkKey: SdkKey
}

function Row({ sdkKey, onRotate, onRevoke }: RowProps) {
  const { name, kind, prefix, lastUsedAt, revokedAt } = sdkKey
  const { reason } = useMay('projects.write')
  return (
    <tr>
      <td data-label={texts.name}>
        <bdi className={table.strong}>{name}</bdi>
      </td>
      <td data-label={texts.kind}>{texts.kinds[kind]}</td>
      <td data-label={texts.prefix}>
        <code>{prefix}…</code>
      </td>
      <td data-label={texts.lastUsed}>
        {lastUsedAt === null ? texts.never : <RelativeTime time={lastUsedAt} />}
      </td>
      <td data-label={texts.expires}>
        <Expiry sdkKey={sdkKey} />
      </td>
      <td>
        {revokedAt === null && (
          <div className={table.actions}>
            <Button
              aria-label={texts.rotateOf(name)}
              disabledReason={reason}
              onPress={() => onRotate(sdkKey)}
            >
              {texts.rotate}
            </Button>
            <Button
              aria-label={texts.revokeOf(name)}
              disabledReason={reason}
              onPress={() => onRevoke(sdkKey)}
            >
              {texts.revoke}
            </Button>
          </div>
        )}
      </td>
    </tr>
  )
}

function Expiry({ sdkKey: { expiresAt, revokedAt } }: { readonly sdkKey: SdkKey }) {
  if (revokedAt !== null) {
    return (
      <span className={table.muted}>
        {texts.revoked} <RelativeTime time={revokedAt} />
      </span>
    )
  }
  if (expiresAt === null) return texts.noExpiry
  const isPast = Date.parse(expiresAt) < Date.now()
  return (
    <span className={isPast ? table.muted : undefined}>
      {isPast && `${texts.expired} `}
      <RelativeTime time={expiresAt} />
    </span>
  )
}
