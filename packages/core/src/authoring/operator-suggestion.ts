import { quote } from '../model/quote.ts'
import { type Operator, operators } from '../operators/operator.ts'

/** The usual names of operators in other systems, in the form that `plain` returns. */
const OTHER_NAMES = [
  ['eq', '= == === is equal equals isequal equalto isequalto exact streq numeq'],
  ['neq', '!= !== <> ne not isnot notequal notequals isnotequalto doesnotequal'],
  ['eq_ci', 'iequals equalsignorecase ieq'],
  ['in', 'any anyof isoneof oneof isin inlist includedin'],
  ['not_in', 'none noneof nin isnotoneof notoneof isnotin notinlist'],
  ['contains', 'includes include has like substring strcontains containsany'],
  ['not_contains', 'excludes doesnotcontain notincludes notlike containsnone'],
  ['contains_ci', 'icontains'],
  ['not_contains_ci', 'noticontains'],
  ['starts_with', 'prefix beginswith hasprefix strstartswith startwith startswithany'],
  ['ends_with', 'suffix hassuffix strendswith endwith endswithany'],
  ['matches', 'match regex regexp matchesregex regexmatch strmatches ~ =~'],
  ['not_matches', 'notregex notmatch doesnotmatch !~ nregex'],
  ['gt', '> greater greaterthan morethan above numgt'],
  [
    'gte',
    '>= ge greaterorequal greaterthanorequal greaterthanorequalto greaterthaninclusive numgte',
  ],
  ['lt', '< less lessthan below numlt'],
  ['lte', '<= le lessorequal lessthanorequal lessthanorequalto lessthaninclusive numlte'],
  ['between', 'range inrange'],
  ['modulo', 'mod %'],
  ['before', 'datebefore isdatebefore earlierthan'],
  ['after', 'dateafter isdateafter laterthan'],
  ['exists', 'isset present ispresent defined hasvalue notnull isnotnull'],
  ['not_exists', 'isnotset notset absent notpresent undefined isnull null empty missing'],
  ['semver_eq', 'veq versioneq semverequal semverequals versionequals'],
  ['semver_gt', 'vgt versiongt semvergreaterthan versiongreaterthan'],
  ['semver_gte', 'vgte versiongte semvergreaterthanorequal semvergreaterthaninclusive'],
  ['semver_lt', 'vlt versionlt semverlessthan versionlessthan'],
  ['semver_lte', 'vlte versionlte semverlessthanorequal semverlessthaninclusive'],
  ['in_cidr', 'cidr ip inip ipinrange insubnet'],
  ['array_contains_all', 'all containsall hasall'],
  ['array_size', 'size length'],
  ['is_type', 'type typeof'],
  ['in_bucket', 'percentage percentagesplit percent'],
  ['in_segment', 'segment segmentmatch ingroup insegmentlist'],
  ['not_in_segment', 'notsegment notingroup notinsegmentlist'],
  ['flag_is', 'flag prerequisite'],
] as const satisfies readonly (readonly [Operator, string])[]

/** Longer names are not compared letter by letter, so that the comparison stays cheap. */
const MAX_COMPARED_LENGTH = 24

/** The operators by their own names and by their names in other systems. */
const KNOWN: ReadonlyMap<string, Operator> = new Map([
  ...OTHER_NAMES.flatMap(([operator, names]) => {
    return names.split(' ').map((name) => [plain(name), operator] as const)
  }),
  ...[...operators.keys()].map((name) => [plain(name), name] as const),
])

/**
 * Returns a sentence for an operator that does not exist. It names the operator that was probably
 * meant: the one with this name in another system, or the one with the most similar name.
 */
export function unknownOperator(name: string): string {
  const fault = `There is no operator ${quote(name)}.`
  const meant = KNOWN.get(plain(name)) ?? mostSimilar(name)
  return meant === undefined
    ? `${fault} Common operators are eq, in, contains, starts_with, gt, before and exists.`
    : `${fault} Did you mean "${meant}"?`
}

/** Returns a name in lower case, without the separators and the `$` that some systems use. */
function plain(name: string): string {
  return name.length > MAX_COMPARED_LENGTH * 2 ? name : name.toLowerCase().replace(/[\s_$-]/g, '')
}

/** Returns the operator whose name differs least; `undefined` if more than a third differs. */
function mostSimilar(name: string): Operator | undefined {
  if (name.length > MAX_COMPARED_LENGTH) return undefined
  const written = plain(name)
  let best: Operator | undefined
  let least = Math.min(2, Math.floor(written.length / 3)) + 1
  for (const [known, operator] of KNOWN) {
    if (Math.abs(known.length - written.length) >= least) continue
    const distance = editDistance([written, known], least)
    if (distance >= least) continue
    least = distance
    best = operator
  }
  return best
}

/**
 * Returns the number of insertions, deletions and substitutions that turn one text into another; a
 * number of at least `limit` if there are that many.
 */
function editDistance([left, right]: readonly [string, string], limit: number): number {
  let row = Array.from({ length: right.length + 1 }, (_, at) => at)
  for (let i = 0; i < left.length; i += 1) {
    const next = [i + 1]
    for (let j = 0; j < right.length; j += 1) {
      const substituted = (row[j] ?? 0) + (left[i] === right[j] ? 0 : 1)
      next.push(Math.min(substituted, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1))
    }
    if (Math.min(...next) >= limit) return limit
    row = next
  }
  return row[right.length] ?? limit
}
