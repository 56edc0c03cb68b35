import { join } from 'node:path'
import type { NextConfig } from 'next'

const config: NextConfig = {
  // The packages are links to the folders of this repository.
  turbopack: { root: join(import.meta.dirname, '../..') },
  // check.js checks the types while Next.js builds.
  typescript: { ignoreBuildErrors: true },
}

export default config
