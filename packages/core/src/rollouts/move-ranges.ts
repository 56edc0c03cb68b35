import type { BucketRange } from '../model/definition.ts'
import { FlagError } from '../model/errors.ts'
import { BUCKETS } from './bucket.ts'
import { pickVariation, rangesOf, type Share } from './rollout.ts'

/** How many ranges a rollout may be cut into by changes of its weights. */
export const MAX_RANGES = 1000

/** A variation's id; null: nobody, who counts as one more variation here. */
type Owner = string | null

/** A stretch of buckets. All tiles together cover all buckets, and no two neighbours have one owner. */
interface Tile {
  readonly owner: Owner
  readonly from: number
  readonly to: number
}

/** Some buckets of one tile that go to another owner. */
interface Move {
  readonly index: number
  readonly taker: Owner
  readonly buckets: number
  /** Whether they are cut off at the tile's end, unless they are the whole tile. */
  readonly isAtEnd: boolean
  /** The greater, the fewer ranges there will be. */
  readonly rank: number
}

/** Buckets that each owner gains or, when negative, loses. Those that are done are 0. */
type Changes = ReadonlyMap<Owner, number>

/**
 * Gives each variation its new share and moves as few buckets as possible: the share that moves is
 * the sum of the increases, what no variation has included, and a variation that does not shrink
 * keeps all of its buckets. When `previous` has exactly these shares, it is the answer, so that
 * undoing a change puts everybody back. Ranges are disjoint and in ascending order, given and
 * answered.
 *
 * Throws `INVALID_DEFINITION` for shares that `rangesOf` refuses, and when the buckets would be
 * scattered over more than `MAX_RANGES` ranges.
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
    `The shares would be scattered over more than ${MAX_RANGES} ranges of buckets. ` +
    'Create a new rollout with these weights and let the rules serve it instead; it deals everybody anew.'
  throw new FlagError('INVALID_DEFINITION', message)
}

/** Percent of all buckets, to three decimals, that belong to another variation, or to none, afterwards. */
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
 * Percent of all contexts, to three decimals, that get another variation, or none, when all are
 * dealt anew, as by another salt: the expectation, since chance decides who those are.
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

/** Without empty tiles, and with neighbours of one owner as one tile. */
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

/** Whole ranges go first, those that join a neighbour before others; then the greatest piece. */
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

/** The owner that has most buckets to gain; `undefined` if none gains any. */
function neediestOf(left: Changes): Owner | undefined {
  const needy = [...left].filter(([, change]) => change > 0)
  return needy.sort(([, change], [, other]) => other - change)[0]?.[0]
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
  // Beside the taker if possible; else a variation keeps its beginning, and nobody the end.
  const isAtEnd = !isAfterTaker && (isBeforeTaker || tile.owner !== null)
  return { index, taker, buckets, isAtEnd, rank }
}
