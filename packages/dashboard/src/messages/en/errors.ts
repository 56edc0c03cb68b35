/** The texts of errors, of any page. */
export const errors = {
  timeout: (seconds: number) => `The server did not respond within ${seconds} seconds.`,
  unreachable: 'The server cannot be reached.',
  unexpectedReply: 'The response of the server is not valid. Reload the page, and try again.',
  invalidInput: 'The input is not valid.',
  unknown: 'The request failed.',
  rateLimited: (seconds: number) =>
    seconds === 1
      ? 'Too many requests. Try again in 1 second.'
      : `Too many requests. Try again in ${seconds} seconds.`,
  notFound: 'This page does not exist, or you have no access to it.',
  toStart: 'Open the first page',
  notFoundTitle: 'Not found',
  loadFailed: (what: string) => `${what} could not be loaded.`,
  notSaved: 'Nothing was changed.',
  tryAgain: 'Try again',
  reload: 'Reload the page',
  requestId: (id: string) => `Request id: ${id}`,
  pageFailed: 'This page could not be shown.',
  pageFailedHint: 'Unpublished drafts are kept. Reload the page to continue.',
  offline: (time: string) =>
    `The server cannot be reached. This page shows the data of ${time}. Nothing can be published.`,
  offlineWithoutData: 'The server cannot be reached. Nothing can be published.',
  toFlags: 'Open the flags',
} as const

/** The texts in place of what was deleted, or never existed. */
export const gone = {
  environment: (key: string) => `The environment “${key}” does not exist`,
  flag: (name: string) => `The flag “${name}” does not exist`,
  segment: (name: string) => `The segment “${name}” does not exist`,
  project: 'This project does not exist',
  deletedBy: (name: string) => `${name} deleted it`,
  hint: 'It was deleted, or the address names another one.',
  environments: 'Environments of this project',
  flags: 'Flags of this project',
  segments: 'Segments of this project',
  draft: 'Your unpublished changes of it are kept until you discard them.',
  discard: 'Discard the changes',
}
