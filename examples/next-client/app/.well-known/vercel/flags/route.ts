import { getProviderData } from '@ff/client/vercel'
import { createFlagsDiscoveryEndpoint } from 'flags/next'
import { local } from '../../../../local-flags.ts'

// #region discovery
/** Tells the toolbar which flags there are. Answers only requests with `FLAGS_SECRET`. */
export const GET = createFlagsDiscoveryEndpoint(() => getProviderData(local))
// #endregion
