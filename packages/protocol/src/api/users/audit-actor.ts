import * as z from 'zod'

/** The author of a change, as of that time. For a token, `name` is its name and `email` is empty. */
export const auditActor = z.strictObject({
  id: z.string(),
  email: z.string(),
  name: z.string(),
  role: z.string(),
})
