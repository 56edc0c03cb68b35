import { expect, it } from 'vitest'
import { createSSRApp } from 'vue'
import { renderToString } from 'vue/server-renderer'
import { Shop } from './shop.ts'

it('The page of the documentation renders its snapshot on a server, and the same in the browser.', async () => {
  const props = { user: 'user-1', snapshot: { flags: { 'new-checkout': true } } }
  const element = document.createElement('div')
  element.innerHTML = await renderToString(createSSRApp(Shop, props))
  expect(element.innerHTML).toBe('<button>Buy now</button>')
  const app = createSSRApp(Shop, props)
  app.mount(element)
  expect(element.textContent).toBe('Buy now')
  app.unmount()
})
