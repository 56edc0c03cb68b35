import type { BucketRange } from '../model/definition.ts'
import { FlagError } from '../model/errors.ts'
import { BUCKETS } from './bucket.ts'
import { pickVariation, rangesOf, type Share } from './rollout.ts'

/** The maximum number of ranges of a rollout after changes of its weights. */
export const MAX_RANGES = 1000

/** The id of the variation that owns buckets. `null` for buckets without a variation. */
type Owner = string | null

/**
 * A range of buckets with one owner. The tiles cover all buckets. Adjacent tiles have different
 * owners.
 */
interface Tile {
  readonly owner: Owner
  readonly from: number
  readonly to: number
}

/** A move of buckets from one end of a tile to another owner. */
interface Move {
  readonly index: number
  readonly taker: Owner
  readonly buckets: number
  /** `true` if the buckets are taken from the end of the tile. */
  readonly isAtEnd: boolean
  /** The priority of the move. Moves with a higher rank result in fewer ranges. */
  readonly rank: number
}

/** The number of buckets that each owner still gains or, if negative, loses. */
type Changes = ReadonlyMap<Owner, number>

/**
 * Returns ranges for new shares that move as few buckets as possible. A variation keeps all of
 * its buckets unless its share shrinks. If `previous` has exactly the new shares, the result
 * equals `previous`, so that undoing a change restores the variation of every context. All ranges,
 * passed and returned, are in ascending order and do not overlap.
 *
 * Throws `INVALID_DEFINITION` if the shares are invalid (see `rangesOf`), or if the result would
 * have more than `MAX_RANGES` ranges.
 */
export function moveRanges(
  ranges: readonly BucketRange[],
  shares: readonly Share[],
  previous?: readonly BucketRange[],
): BucketRange[] {
  const wanted = sizesOf(rangesOf(shares))
  for (const known of previous === undefined ? [ranges] : [ranges, previous]) {
    if (isUnchanged(changesBetween(sizesOf(known), wanted))) return [...known]
  }
  const moved = moveTiles(tilesOf(ranges), changesBetween(sizesOf(ranges), wanted))
  if (moved.length <= MAX_RANGES) return moved
  const message =
    `These weights would split the rollout into more than ${MAX_RANGES} ranges of buckets. ` +
    'Create a new rollout with these weights, and use the new rollout in the rules. ' +
    'A new rollout assigns all contexts to new buckets.'
  throw new FlagError('INVALID_DEFINITION', message)
}

/**
 * Returns the percentage of all buckets, to three decimals, that have different variations in two
 * lists of ranges. Having no variation also counts as a variation.
 */
export function movedPercentage(
  before: readonly BucketRange[],
  after: readonly BucketRange[],
): number {
  const ends = [...before, ...after].flatMap(({ from, to }) => [from, to])
  const cuts = [...new Set([0, ...ends, BUCKETS])].sort((left, right) => left - right)
  let moved = 0
  for (const [index, from] of cuts.entries()) {
    const to = cuts[index + 1] ?? from
    if (pickVariation(before, from) !== pickVariation(after, from)) moved += to - from
  }
  return moved / (BUCKETS / 100)
}

/**
 * Returns the expected percentage of all contexts, to three decimals, that receive another
 * variation if all contexts get new buckets, for example because the salt changes.
 */
export function reshuffledPercentage(
  before: readonly BucketRange[],
  after: readonly BucketRange[],
): number {
  const sizesAfter = sizesOf(after)
  let kept = 0
  for (const [owner, size] of sizesOf(before)) {
    kept += (size / BUCKETS) * ((sizesAfter.get(owner) ?? 0) / BUCKETS)
  }
  return Math.round((1 - kept) * BUCKETS) / (BUCKETS / 100)
}

function sizesOf(ranges: readonly BucketRange[]): ReadonlyMap<Owner, number> {
  const sizes = new Map<Owner, number>([[null, BUCKETS]])
  const add = (owner: Owner, size: number) => sizes.set(owner, (sizes.get(owner) ?? 0) + size)
  for (const { variationId, from, to } of ranges) {
    add(variationId, to - from)
    add(null, from - to)
  }
  return sizes
}

function changesBetween(
  before: ReadonlyMap<Owner, number>,
  after: ReadonlyMap<Owner, number>,
): Changes {
  const owners = new Set([...before.keys(), ...after.keys()])
  return new Map(
    [...owners].map((owner) => [owner, (after.get(owner) ?? 0) - (before.get(owner) ?? 0)]),
  )
}

function isUnchanged(changes: Changes): boolean {
  return [...changes.values()].every((change) => change === 0)
}

function tilesOf(ranges: readonly BucketRange[]): readonly Tile[] {
  const tiles: Tile[] = []
  let end = 0
  for (const { variationId, from, to } of ranges) {
    tiles.push({ owner: null, from: end, to: from }, { owner: variationId, from, to })
    end = to
  }
  return merged([...tiles, { owner: null, from: end, to: BUCKETS }])
}

/** Removes empty tiles, and merges adjacent tiles of one owner. */
function merged(tiles: readonly Tile[]): readonly Tile[] {
  const joined: Tile[] = []
  for (const tile of tiles) {
    if (tile.from === tile.to) continue
    const last = joined.at(-1)
    if (last?.owner === tile.owner) joined[joined.length - 1] = { ...last, to: tile.to }
    else joined.push(tile)
  }
  return joined
}

function moveTiles(start: readonly Tile[], wanted: Changes): BucketRange[] {
  let tiles = start
  const left = new Map(wanted)
  for (let move = bestMove(tiles, left); move !== undefined; move = bestMove(tiles, left)) {
    const { taker, buckets } = move
    const giver = tiles[move.index]?.owner ?? null
    left.set(giver, (left.get(giver) ?? 0) + buckets)
    left.set(taker, (left.get(taker) ?? 0) - buckets)
    tiles = merged(tiles.flatMap((tile, index) => (index === move.index ? cut(tile, move) : tile)))
  }
  return tiles.flatMap(({ owner, from, to }) =>
    owner === null ? [] : { variationId: owner, from, to },
  )
}

function cut({ owner, from, to }: Tile, { taker, buckets, isAtEnd }: Move): readonly Tile[] {
  const at = isAtEnd ? to - buckets : from + buckets
  const [first, second] = isAtEnd ? [owner, taker] : [taker, owner]
  return [
    { owner: first, from, to: at },
    { owner: second, from: at, to },
  ]
}

/**
 * Returns the best next move, or `undefined` if no move is left. A move of a whole tile precedes
 * other moves, in particular if it joins the tile with its neighbours. Among moves of the same
 * rank, the move of the most buckets is the best.
 */
function bestMove(tiles: readonly Tile[], left: Changes): Move | undefined {
  const neediest = neediestOf(left)
  let best: Move | undefined
  for (const [index, { owner }] of tiles.entries()) {
    if ((left.get(owner) ?? 0) >= 0) continue
    for (const taker of [tiles[index - 1]?.owner, tiles[index + 1]?.owner, neediest]) {
      const move = taker === undefined ? undefined : moveTo(taker, { tiles, index, left })
      if (move === undefined) continue
      if (best === undefined || (move.rank - best.rank || move.buckets - best.buckets) > 0)
        best = move
    }
  }
  return best
}

/** Returns the owner that gains the most buckets. */
function neediestOf(left: Changes): Owner | undefined {
  return [...left].sort(([, change], [, other]) => other - change)[0]?.[0]
}

interface Situation {
  readonly tiles: readonly Tile[]
  readonly index: number
  readonly left: Changes
}

function moveTo(taker: Owner, { tiles, index, left }: Situation): Move | undefined {
  const tile = tiles[index]
  if (tile === undefined) return undefined
  const size = tile.to - tile.from
  const buckets = Math.min(size, -(left.get(tile.owner) ?? 0), left.get(taker) ?? 0)
  if (buckets <= 0) return undefined
  const isAfterTaker = tiles[index - 1]?.owner === taker
  const isBeforeTaker = tiles[index + 1]?.owner === taker
  const joins = Number(isAfterTaker) + Number(isBeforeTaker)
  const rank = buckets === size ? 2 + joins : Math.min(1, joins)
  // Cuts next to the taker if possible. Otherwise a variation keeps its start, and a gap its end.
  const isAtEnd = !isAfterTaker && (isBeforeTaker || tile.owner !== null)
  return { index, taker, buckets, isAtEnd, rank }
}
