import { flags } from '../../../flags.ts'

// #region route
export const dynamic = 'force-dynamic'

export {
  handle as DELETE,
  handle as GET,
  handle as HEAD,
  handle as OPTIONS,
  handle as PATCH,
  handle as POST,
  handle as PUT,
}

const handle = (request: Request): Promise<Response> => flags.fetch(request)
// #endregion
