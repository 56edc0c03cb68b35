import { StrictMode } from 'react'
import { hydrateRoot } from 'react-dom/client'
import { Shop } from './shop.tsx'

const root = document.querySelector('#root')
const { user = '', url = '', key = '' } = document.body.dataset
const snapshot = JSON.parse(document.querySelector('#snapshot')?.textContent ?? '')
if (root !== null) {
  hydrateRoot(
    root,
    <StrictMode>
      <Shop user={user} url={url} sdkKey={key} snapshot={snapshot} />
    </StrictMode>,
  )
}
