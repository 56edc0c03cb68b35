// @ts-check

/**
 * @typedef {{ name: string, version: string, repository?: { url: string } }} Manifest
 * @typedef {{
 *   env: Readonly<Record<string, string | undefined>>,
 *   manifests: readonly Manifest[],
 *   pendingChangesets: readonly string[],
 *   changedFiles: readonly string[],
 * }} ReleaseState
 */

const WORKFLOW = '.github/workflows/release.yml'
const TOKENS = ['NODE_AUTH_TOKEN', 'NPM_TOKEN']

/**
 * Returns the reasons why this process must not publish; none in the release job of a tagged commit.
 *
 * @param {ReleaseState} state
 * @returns {readonly string[]}
 */
export function releaseRefusals({ env, manifests, pendingChangesets, changedFiles }) {
  if (env.GITHUB_ACTIONS !== 'true') {
    return ['Packages are published only by the release job. Push a tag, see docs/releasing.md.']
  }
  return [
    ...identityRefusals(env),
    ...manifests.flatMap((manifest) => manifestRefusals(manifest, env)),
    ...pendingChangesets.map((file) => `${file} is pending: run pnpm changeset version.`),
    ...changedFiles.map((file) => `${file} differs from the tagged commit.`),
  ]
}

/** @param {ReleaseState['env']} env */
function identityRefusals(env) {
  const refusals = []
  const expected = `${env.GITHUB_REPOSITORY}/${WORKFLOW}@${env.GITHUB_REF}`
  if (env.GITHUB_WORKFLOW_REF !== expected) {
    refusals.push(`GITHUB_WORKFLOW_REF must be ${expected} (got ${env.GITHUB_WORKFLOW_REF}).`)
  }
  if (!env.ACTIONS_ID_TOKEN_REQUEST_URL) {
    refusals.push('The job has no identity for provenance: set the permission id-token: write.')
  }
  for (const name of TOKENS.filter((token) => env[token])) {
    refusals.push(`${name} must not be set: the job publishes with its own identity.`)
  }
  return refusals
}

/**
 * @param {Manifest} manifest
 * @param {ReleaseState['env']} env
 */
function manifestRefusals({ name, version, repository }, env) {
  const refusals = []
  const url = `git+${env.GITHUB_SERVER_URL}/${env.GITHUB_REPOSITORY}.git`
  if (repository?.url !== url) {
    refusals.push(`repository.url of ${name} must be ${url} (got ${repository?.url}).`)
  }
  if (env.GITHUB_REF !== `refs/tags/v${version}`) {
    refusals.push(`The version of ${name} is ${version}, but the job runs for ${env.GITHUB_REF}.`)
  }
  return refusals
}
