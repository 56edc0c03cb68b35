import { FlagError } from '@ff/core'
import type { NewCheckout, Plan } from '@ff/protocol/management'
import type { Records } from '@ff/storage'
import type { Reader } from '../changes/record-writer.ts'
import { defineChange } from '../changes/use-case.ts'
import type { Payments } from '../ports/payments.ts'
import { invalid } from '../requests/validation.ts'
import { billingUpdated } from './payment-changes.ts'
import { isLiving, lastSubscriptions, subjectOf } from './payment-subjects.ts'

type Payer = Records['organization']

/**
 * Creates the use case of checkouts. Without a payment provider, every checkout uses the product
 * link of the plan.
 */
export function createCheckoutUseCases(payments: Payments | undefined) {
  return {
    /**
     * Returns the URL where an organization can pay for a plan: a page of the payment provider if
     * the plan has a price at the provider, otherwise the product link of the plan. Throws
     * `CONFLICT` if the organization already pays for a plan, and `UNAVAILABLE` if the provider is
     * unavailable.
     */
    createCheckout: defineChange('createCheckout', {
      async prepare({ storage, organization: payer, body }): Promise<PreparedCheckout> {
        const plan = await storage.find('plan', body.planId)
        if (plan === undefined) throw invalid('plan_id', 'must be the id of a plan')
        const priceId = priceOf(plan, body)
        if (payments === undefined || priceId === null) return linkOf(plan, payer, payments)
        await assertNotPaying(storage, payer)
        const customerId = await findCustomer(storage, payer, payments)
        const { url } = await payments.createCheckout({
          orgId: payer.id,
          customerId,
          priceId,
          trialDays: payer.hasUsedPaidTrial ? 0 : (plan.trialDays ?? 0),
          successUrl: body.successUrl,
          cancelUrl: body.cancelUrl,
        })
        return { url, customer: { before: payer.paymentCustomerId, after: customerId } }
      },
      async run({ writer, organization: before, prepared: { url, customer } }) {
        // Of two concurrent checkouts, the first sets the customer. If the other one is paid, the
        // provider's event sets the customer again.
        if (customer?.before !== before.paymentCustomerId) return { result: { url } }
        const changes = { paymentCustomerId: customer.after }
        const after = await writer.update('organization', before, changes)
        return { event: billingUpdated(before, after), result: { url } }
      },
    }),
  }
}

interface PreparedCheckout {
  readonly url: string
  /**
   * The id of the organization's customer before and after the checkout; absent for a product link.
   */
  readonly customer?: { readonly before: string | null; readonly after: string }
}

function priceOf(plan: Plan, { interval = 'monthly' }: NewCheckout): string | null {
  if (interval === 'annual') return plan.stripeAnnualPriceId
  return plan.stripeMonthlyPriceId ?? plan.stripePriceId
}

/**
 * Returns the checkout with the product link of a plan. If there is a payment provider, the link
 * contains the id of the organization, which the provider returns in the event of the payment.
 * Throws `INVALID_REQUEST` if the plan has no link.
 */
function linkOf(
  { productLink }: Plan,
  { id }: Payer,
  payments: Payments | undefined,
): PreparedCheckout {
  if (productLink === null) {
    const price = payments === undefined ? '' : 'a price for this interval or '
    throw invalid('plan_id', `must be the id of a plan with ${price}a product link`)
  }
  const link = new URL(productLink)
  if (payments !== undefined) link.searchParams.set('client_reference_id', id)
  return { url: link.href }
}

async function assertNotPaying(reader: Reader, payer: Payer): Promise<void> {
  const subscriptions = await lastSubscriptions(reader, payer.paymentCustomerId)
  if (!subscriptions.some(isLiving)) return
  const message = 'The organization has a paid plan. Change the plan at the payment provider.'
  throw new FlagError('CONFLICT', message)
}

/** Returns the id of the organization's customer at the provider, creating it if necessary. */
async function findCustomer(reader: Reader, payer: Payer, payments: Payments): Promise<string> {
  const { id: orgId, name, billingEmail: email, paymentCustomerId: known, revision } = payer
  const last = known === null ? undefined : await reader.find('paymentEvent', known)
  if (known !== null && (last === undefined || subjectOf(last).status !== 'deleted')) return known
  // If a key was used before, the provider rejects a request with other details, and otherwise
  // returns the earlier customer, even if that customer was deleted.
  const idempotencyKey = `ff-customer-${orgId}-${revision}-${known ?? 'first'}`
  const { customerId } = await payments.createCustomer({ orgId, name, email, idempotencyKey })
  return customerId
}
