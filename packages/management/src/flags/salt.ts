const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const LENGTH = 11
/** The largest multiple of the alphabet's size that a byte can hold: beyond it, some would be likelier. */
const FAIR_BYTES = 256 - (256 % ALPHABET.length)

/** A new random salt for a rollout: 11 base-62 characters. */
export function newSalt(): string {
  let salt = ''
  while (salt.length < LENGTH) {
    const [byte = FAIR_BYTES] = crypto.getRandomValues(new Uint8Array(1))
    if (byte < FAIR_BYTES) salt += ALPHABET.charAt(byte % ALPHABET.length)
  }
  return salt
}
