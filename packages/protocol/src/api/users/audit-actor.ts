import * as z from 'zod'

/** Who made a change, as they were then. Of a token, the name is the token's and the e-mail empty. */
export const auditActor = z.strictObject({
  id: z.string(),
  email: z.string(),
  name: z.string(),
  role: z.string(),
})
