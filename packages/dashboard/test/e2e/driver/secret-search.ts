import type { BrowserContext, Page } from 'playwright-core'
import { expect } from 'vitest'

/** Records where a page could leak a secret: the addresses of its requests and its console. */
export class SecretSearch {
  readonly #texts: string[] = []

  /** Records everything from now on in the pages of a context. */
  watch(context: BrowserContext): void {
    context.on('request', (request) => this.#texts.push(sentPart(request.url())))
    context.on('console', (message) => this.#texts.push(message.text()))
    context.on('page', (page) => {
      page.on('framenavigated', (frame) => this.#texts.push(sentPart(frame.url())))
    })
  }

  /** Expects that no address, no storage of the page, and no given text contains a secret. */
  async expectNone(
    page: Page,
    secrets: readonly string[],
    texts: readonly string[] = [],
  ): Promise<void> {
    const stored = await page.evaluate(() =>
      JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie]),
    )
    const all = [...this.#texts, page.url(), stored, ...texts]
    const found = secrets.filter((secret) => all.some((text) => text.includes(secret)))
    expect(secrets.every((secret) => secret.length > 4)).toBe(true)
    expect(found, 'the secrets that were found').toEqual([])
  }
}

/** Returns an address without its fragment, which browsers do not send. */
function sentPart(address: string): string {
  return address.replace(/#.*$/, '')
}
