import * as z from 'zod'

/**
 * The author of a change, with the values at the time of the change. For a token, `name` is the
 * token's name and `email` is empty.
 */
export const auditActor = z.strictObject({
  id: z.string(),
  email: z.string(),
  name: z.string(),
  role: z.string(),
})
