import { FirstRequests } from './first-requests.ts'

const { pathname, search } = window.location
const base = new URL(document.baseURI).pathname

/** The path of the management API on this host. */
export const apiPath = document.querySelector<HTMLMetaElement>('meta[name="ff-api"]')?.content ?? ''

/** The requests of this page, which begin when this module is loaded. */
export const firstRequests = new FirstRequests(apiPath)

firstRequests.start(pathname.slice(base.length), search)
