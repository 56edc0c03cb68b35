import type { ManagementOptions } from '@ff/management'
import type { StripeConfig } from './config.ts'

/** Returns the options for Stripe. Its module is loaded only if it is configured. */
export async function loadPayments(
  config: StripeConfig | undefined,
): Promise<Pick<ManagementOptions, 'payments'>> {
  if (config === undefined) return {}
  const { default: Stripe } = await import('stripe')
  const { stripePayments } = await import('@ff/management/stripe')
  const { secretKey, webhookSecret, returnUrl } = config
  return { payments: stripePayments({ client: new Stripe(secretKey), webhookSecret, returnUrl }) }
}
