import type { Config } from './config.ts'
import type { Print } from './introduction.ts'
import { findUrl } from './listening.ts'
import type { Standalone } from './serve.ts'
import { Workers } from './workers.ts'

/**
 * Starts the primary process of several. The workers load their modules while this process loads its
 * own and prepares the store, and then begin to serve.
 */
export async function startPrimary(config: Config, print: Print): Promise<Standalone> {
  // Detects a busy port before the store is created or migrated.
  const url = await findUrl(config)
  const env = { PORT: new URL(url).port }
  const publicUrl = url + config.basePath
  const workers = new Workers({ count: config.workers, env })
  try {
    const { prepare } = await import('./primary.ts')
    const prepared = await prepare({ config, print, url: publicUrl })
    const close = async () => {
      await workers.close()
      await prepared.close()
    }
    await workers.begin(prepared.logger)
    await print(prepared.introduction)
    return { url: publicUrl, close }
  } catch (error) {
    await workers.close()
    throw error
  }
}
