import { useApi } from '../../../session/use-session.ts'

/** Returns the address under which clients reach the server. */
export function useServerUrl(): string {
  const path = useApi()
    .addressOf('getLogIn')
    .replace(/\/auth\/me$/, '')
  return window.location.origin + path
}
