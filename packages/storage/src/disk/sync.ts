import { open } from 'node:fs/promises'

/** Waits until the names in a folder are on the disk. */
export async function syncFolder(path: string): Promise<void> {
  // Windows cannot open a folder.
  if (process.platform !== 'win32') await syncFile(path, 'r')
}

/** Waits until the contents of a file are on the disk. */
export async function syncFile(path: string, flags: 'r' | 'r+'): Promise<void> {
  const file = await open(path, flags)
  try {
    await file.sync()
  } finally {
    await file.close()
  }
}
