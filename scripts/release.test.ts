import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { releaseRefusals } from './release-refusals.js'
import { root } from './source-files.ts'

const repository = { url: 'git+https://github.com/example/ff.git' }

const releaseJob = {
  env: {
    GITHUB_ACTIONS: 'true',
    GITHUB_SERVER_URL: 'https://github.com',
    GITHUB_REPOSITORY: 'example/ff',
    GITHUB_REF: 'refs/tags/v1.2.3',
    GITHUB_WORKFLOW_REF: 'example/ff/.github/workflows/release.yml@refs/tags/v1.2.3',
    ACTIONS_ID_TOKEN_REQUEST_URL: 'https://token.example',
  },
  manifests: [{ name: '@ff/core', version: '1.2.3', repository }],
  pendingChangesets: [],
  changedFiles: [],
}

const withEnv = (env: Readonly<Record<string, string | undefined>>) => ({
  ...releaseJob,
  env: { ...releaseJob.env, ...env },
})

describe('pnpm release', () => {
  it('A release is permitted in the release job of the tag of the version', () => {
    expect(releaseRefusals(releaseJob)).toEqual([])
  })

  it.each([
    ['no CI', withEnv({ GITHUB_ACTIONS: undefined }), /only by the release job/],
    ['a branch', withEnv({ GITHUB_REF: 'refs/heads/main' }), /runs for refs\/heads\/main/],
    ['a fork', withEnv({ GITHUB_REPOSITORY: 'other/ff' }), /repository\.url of @ff\/core must be/],
    [
      'another workflow',
      withEnv({ GITHUB_WORKFLOW_REF: 'example/ff/.github/workflows/test.yml@refs/tags/v1.2.3' }),
      /GITHUB_WORKFLOW_REF must be example\/ff\/\.github\/workflows\/release\.yml/,
    ],
    ['no identity', withEnv({ ACTIONS_ID_TOKEN_REQUEST_URL: undefined }), /id-token: write/],
    ['a token', withEnv({ NPM_TOKEN: 'secret' }), /NPM_TOKEN must not be set/],
    [
      'a manifest without a repository',
      { ...releaseJob, manifests: [{ name: '@ff/core', version: '1.2.3' }] },
      /repository\.url of @ff\/core must be git\+https.*\(got undefined\)/,
    ],
    [
      'another version',
      { ...releaseJob, manifests: [{ name: '@ff/core', version: '1.2.4', repository }] },
      /version of @ff\/core is 1\.2\.4/,
    ],
    [
      'a pending changeset',
      { ...releaseJob, pendingChangesets: ['a.md'] },
      /a\.md is pending: run pnpm changeset version/,
    ],
    ['a changed file', { ...releaseJob, changedFiles: [' M a.ts'] }, /a\.ts differs/],
  ])('A release is refused with %s', (_, state, message) => {
    const refusals = releaseRefusals(state)
    expect(refusals.join('\n')).toMatch(message)
    expect(refusals.join('\n')).not.toContain('secret')
  })

  it('The release script fails outside the release job before it runs another command', () => {
    const env = { PATH: process.env.PATH, GITHUB_ACTIONS: '' }
    const script = join(root, 'scripts', 'release.js')
    const { status, stdout, stderr } = spawnSync(process.execPath, [script], {
      env,
      encoding: 'utf8',
    })
    expect([status, stdout]).toEqual([1, ''])
    expect(stderr).toMatch(/^Packages are published only by the release job\./)
  })
})
