import type { QueryClient } from '@tanstack/react-query'
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from '@tanstack/react-router'
import * as z from 'zod'
import { Layout } from './layout/layout.tsx'
import { ErrorPage } from './pages/error-page.tsx'
import { FlagsPage } from './pages/flags/flags-page.tsx'
import { type FlagsSearch, toQuery } from './pages/flags/flags-search.ts'
import { firstFlagsQuery } from './pages/flags/use-flag-rows.ts'
import { NotFoundPage } from './pages/not-found-page.tsx'
import { OuterErrorPage, OuterNotFoundPage } from './pages/outer-page.tsx'
import { projectQuery } from './queries/use-queries.ts'
import type { Session } from './session/session.ts'

/** What the router gives to every route. */
export interface RouterContext {
  readonly session: Session
  readonly queryClient: QueryClient
}

/** The path of every page, below the path of the application. */
export const PATHS = {
  logIn: '/login',
  accept: '/accept',
  home: '/',
  newProject: '/projects/new',
  flags: '/p/$project/flags',
  newFlag: '/p/$project/new-flag',
  flag: '/p/$project/flags/$flag',
  segments: '/p/$project/segments',
  segment: '/p/$project/segments/$segment',
  playground: '/p/$project/playground',
  history: '/p/$project/history',
  keys: '/p/$project/settings/keys',
} as const

/** A path of this application: it cannot name another host. */
const PATH_OF_PAGE = /^\/(?![/\\])/

/** A search parameter that is left out if it is not valid. */
const optional = <T extends z.ZodType>(schema: T) => schema.optional().catch(undefined)
const word = optional(z.string().min(1).max(256))
const environment = { env: word }

const flagsSearch = z.object({
  ...environment,
  search: word,
  tag: word,
  type: optional(z.enum(['boolean', 'string', 'number', 'json'])),
  state: optional(
    z.enum(['on', 'off', 'rollout', 'experiment', 'gradual', 'scheduled', 'differs', 'unused']),
  ),
  sort: optional(
    z.templateLiteral([
      z.enum(['key', 'name', 'updated_at', 'created_at']),
      ':',
      z.enum(['asc', 'desc']),
    ]),
  ),
  archived: optional(z.union([z.boolean(), z.stringbool()])),
})
const flagSearch = z.object({
  ...environment,
  tab: optional(z.enum(['targeting', 'variations', 'history', 'code', 'settings'])),
})
const environmentSearch = z.object(environment)
const historySearch = z.object({ ...environment, flag: word })
const playgroundSearch = z.object({
  ...environment,
  flag: word,
  version: optional(z.coerce.number().int().min(1)),
  at: word,
})

const root = createRootRouteWithContext<RouterContext>()({
  component: Outlet,
  notFoundComponent: OuterNotFoundPage,
  errorComponent: OuterErrorPage,
})

const logIn = createRoute({
  getParentRoute: () => root,
  path: PATHS.logIn,
  validateSearch: z.object({ next: optional(z.string().regex(PATH_OF_PAGE)) }),
  component: lazyRouteComponent(() => import('./pages/session/log-in-page.tsx'), 'LogInPage'),
})
const accept = createRoute({
  getParentRoute: () => root,
  path: PATHS.accept,
  component: lazyRouteComponent(() => import('./pages/session/accept-page.tsx'), 'AcceptPage'),
})

/** The pages with side bar, for a user who is logged in. */
const layout = createRoute({
  getParentRoute: () => root,
  id: 'layout',
  component: Layout,
  errorComponent: OuterErrorPage,
  beforeLoad: async ({ context: { session }, location }) => {
    const { status } = session.state()
    if (status === 'loggedOut') throw redirect({ to: PATHS.logIn })
    if (status === 'loggedIn' || (await session.load()).status === 'loggedIn') return
    const next = location.href === '/' ? {} : { next: location.href }
    throw redirect({ to: PATHS.logIn, search: next })
  },
})
const within = { getParentRoute: () => layout }
/** A page that shows one environment of its project. */
const withinEnvironment = { ...within, staticData: { environment: 'shown' } } as const

const home = createRoute({
  ...within,
  path: PATHS.home,
  component: lazyRouteComponent(() => import('./pages/projects/home-page.tsx'), 'HomePage'),
})
const newProject = createRoute({
  ...within,
  path: PATHS.newProject,
  component: lazyRouteComponent(
    () => import('./pages/projects/new-project-page.tsx'),
    'NewProjectPage',
  ),
})
const flags = createRoute({
  ...within,
  staticData: { environment: 'filter' },
  path: PATHS.flags,
  validateSearch: flagsSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ context, params, deps }) => startLoadingFlags(context, params.project, deps),
  // Most visits begin with the list, so that its code is not loaded separately.
  component: FlagsPage,
})
const newFlag = createRoute({
  ...within,
  path: PATHS.newFlag,
  component: lazyRouteComponent(() => import('./pages/flags/new-flag-page.tsx'), 'NewFlagPage'),
})
const flag = createRoute({
  ...within,
  staticData: { environment: 'shown', prefersProduction: true },
  path: PATHS.flag,
  validateSearch: flagSearch,
  component: lazyRouteComponent(() => import('./pages/flag/flag-page.tsx'), 'FlagPage'),
})
const segments = createRoute({
  ...within,
  path: PATHS.segments,
  component: lazyRouteComponent(() => import('./pages/segments/segments-page.tsx'), 'SegmentsPage'),
})
const segment = createRoute({
  ...within,
  path: PATHS.segment,
  component: lazyRouteComponent(() => import('./pages/segments/segment-page.tsx'), 'SegmentPage'),
})
const playground = createRoute({
  ...withinEnvironment,
  path: PATHS.playground,
  validateSearch: playgroundSearch,
  component: lazyRouteComponent(
    () => import('./pages/playground/playground-page.tsx'),
    'PlaygroundPage',
  ),
})
const history = createRoute({
  ...withinEnvironment,
  path: PATHS.history,
  validateSearch: historySearch,
  component: lazyRouteComponent(() => import('./pages/history/history-page.tsx'), 'HistoryPage'),
})
const keys = createRoute({
  ...withinEnvironment,
  path: PATHS.keys,
  validateSearch: environmentSearch,
  component: lazyRouteComponent(() => import('./pages/settings/keys-page.tsx'), 'KeysPage'),
})

const routeTree = root.addChildren([
  logIn,
  accept,
  layout.addChildren([
    ...([home, newProject, flags, newFlag, flag] as const),
    ...([segments, segment, playground, history, keys] as const),
  ]),
])

/** Starts to load the list of flags before its page is rendered. */
function startLoadingFlags(
  { session: { api }, queryClient }: RouterContext,
  projectId: string,
  search: FlagsSearch,
): void {
  void queryClient.prefetchQuery(projectQuery(api, projectId))
  // The id of an environment is known only when the project is loaded.
  if (search.env !== undefined) return
  const list = { projectId, query: toQuery(search, []) }
  void queryClient.prefetchQuery(firstFlagsQuery(api, list))
}

/** Creates the router of the application below a path. */
export function createAppRouter(context: RouterContext, basepath: string) {
  return createRouter({
    routeTree,
    context,
    basepath,
    defaultNotFoundComponent: NotFoundPage,
    defaultErrorComponent: ErrorPage,
    defaultPreload: 'intent',
    scrollRestoration: true,
    // Search parameters are texts: a key such as `1.0` or `true` is no number and no boolean.
    parseSearch: (search) => Object.fromEntries(new URLSearchParams(search)),
    stringifySearch,
  })
}

function stringifySearch(search: Readonly<Record<string, unknown>>): string {
  const named = Object.entries(search).filter(([, value]) => value !== undefined)
  const text = new URLSearchParams(named.map(([name, value]) => [name, String(value)])).toString()
  return text === '' ? '' : `?${text}`
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createAppRouter>
  }
  interface StaticDataRouteOption {
    /** `shown`: the page shows one environment. `filter`: the address can name one. */
    readonly environment?: 'shown' | 'filter'
    /** `true` if the page shows the production environment unless its address names another one. */
    readonly prefersProduction?: boolean
  }
}
