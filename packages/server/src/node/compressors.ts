import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { Compressors } from '../http/compressors.ts'

const brotliAsync = promisify(brotliCompress)
const gzipAsync = promisify(gzip)

/** A quality that compresses JSON about as fast as gzip does, and smaller. */
const BROTLI_QUALITY = 5

/** The compressors of Node. They run outside the event loop. */
export const nodeCompressors: Compressors = {
  br: (text) => {
    const params = {
      [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY,
      [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
    }
    return brotliAsync(text, { params })
  },
  gzip: (text) => gzipAsync(text),
}
