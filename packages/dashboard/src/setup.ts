import { config } from 'zod'

// Without this, zod tries to compile a function, which the policy of the page refuses and reports. It
// must run before a schema is made, so `main.tsx` imports this module first.
config({ jitless: true })

const RELOADED = 'ff-reloaded'
const FORGET_MS = 30_000

/**
 * Reloads the page once if one of its files is gone, which is so after an upgrade of the server. While
 * the server cannot be reached, the page stays: a reload would lose it.
 */
export function reloadAfterUpgrade(): void {
  window.addEventListener('vite:preloadError', async () => {
    if (sessionStorage.getItem(RELOADED) !== null) return
    const page = await fetch(document.baseURI, { cache: 'no-store' }).catch(() => undefined)
    if (page?.ok !== true) return
    sessionStorage.setItem(RELOADED, 'true')
    window.location.reload()
  })
  window.setTimeout(() => sessionStorage.removeItem(RELOADED), FORGET_MS)
}
