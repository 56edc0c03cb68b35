// @ts-check
// Finds secrets in files: pnpm exec node scripts/find-secrets.js FILE…
import { readFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'

/**
 * The forms of secrets. Each alternative matches a complete secret, so that code that builds or
 * matches secrets is not found.
 */
const SECRETS = [
  /\bff(?:at)?_[0-9a-f]{64}\b/,
  /\b[sr]k_live_[A-Za-z0-9]{16,}/,
  /\bwhsec_[A-Za-z0-9+/=]{24,}/,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----/,
  /\bgh[pousr]_[A-Za-z0-9]{36}/,
  /\bnpm_[A-Za-z0-9]{36}\b/,
  /\bAKIA[0-9A-Z]{16}\b/,
  /\beyJ[\w-]{16,}\.eyJ[\w-]{16,}\.[\w-]{16,}/,
]

/** Matches secrets that are examples: with a repeated character, or with consecutive digits or bytes. */
const EXAMPLE = /(.)\1{15}|0123456789abcdef|AAECAwQFBgcICQoL/

/**
 * Returns the line numbers of the secrets in a text.
 *
 * @param {string} text
 * @returns {number[]}
 */
export function linesWithSecrets(text) {
  const found = text.split('\n').map((line, index) => {
    const secrets = SECRETS.map((secret) => secret.exec(line)?.[0] ?? '')
    return secrets.some((secret) => secret !== '' && !EXAMPLE.test(secret)) ? index + 1 : 0
  })
  return found.filter((number) => number > 0)
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  for (const file of process.argv.slice(2)) {
    for (const number of linesWithSecrets(readFileSync(file, 'utf8'))) {
      console.error(`${file}:${number} contains a secret.`)
      process.exitCode = 1
    }
  }
}
