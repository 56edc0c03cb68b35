import type { TestProject } from 'vitest/node'
import { startForTests } from '../../../../scripts/test-programs.ts'
import { findProxy, PROXIES, type ProxyName } from './proxy-process.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** The proxies that are installed. */
    readonly proxies: readonly ProxyName[]
  }
}

/** Finds the proxies that are installed. */
export async function setup(project: TestProject): Promise<void> {
  const found: ProxyName[] = []
  for (const name of PROXIES) {
    await startForTests({ name, start: () => findProxy(name).then(() => found.push(name)) })
  }
  project.provide('proxies', found)
}
