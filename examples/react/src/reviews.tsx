import { useFlag } from './flags.ts'

/** A part of the page that is loaded later. */
export default function Reviews() {
  return <p id="reviews">Reviews in the {useFlag('theme')} theme</p>
}
