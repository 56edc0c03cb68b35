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

/** Creates the use case of checkouts; without a payment provider, plans have links only. */
export function createCheckoutUseCases(payments: Payments | undefined) {
  return {
    /**
     * Where an organization can pay for a plan: a page of the payment provider's, else the plan's
     * own link. Throws `CONFLICT` when it pays for one already, `UNAVAILABLE` while the provider is
     * away.
     */
    createCheckout: defineChange('createCheckout', {
      async prepare({ storage, organization: payer, body }): Promise<PreparedCheckout> {
        const plan = await storage.find('plan', body.planId)
        if (plan === undefined) throw invalid('plan_id', 'names no plan')
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
        // The first of two concurrent checkouts is kept; the provider's events decide in the end.
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
  /** The ids of the organization's customer, if the checkout is at the payment provider. */
  readonly customer?: { readonly before: string | null; readonly after: string }
}

function priceOf(plan: Plan, { interval = 'monthly' }: NewCheckout): string | null {
  if (interval === 'annual') return plan.stripeAnnualPriceId
  return plan.stripeMonthlyPriceId ?? plan.stripePriceId
}

/** The link names the organization, which the provider returns in the event of a payment. */
function linkOf(
  { productLink }: Plan,
  { id }: Payer,
  payments: Payments | undefined,
): PreparedCheckout {
  if (productLink === null) {
    const what = payments === undefined ? 'link' : 'price at the payment provider, and no link,'
    throw invalid('plan_id', `names a plan that has no ${what} to pay for it this way`)
  }
  const link = new URL(productLink)
  if (payments !== undefined) link.searchParams.set('client_reference_id', id)
  return { url: link.href }
}

async function assertNotPaying(reader: Reader, payer: Payer): Promise<void> {
  const subscriptions = await lastSubscriptions(reader, payer.paymentCustomerId)
  if (!subscriptions.some(isLiving)) return
  const message = 'The organization pays for a plan already: change it at the payment provider.'
  throw new FlagError('CONFLICT', message)
}

/** Returns the id of the organization's customer at the provider, creating it if necessary. */
async function findCustomer(reader: Reader, payer: Payer, payments: Payments): Promise<string> {
  const { id: orgId, name, billingEmail: email, paymentCustomerId: known, revision } = payer
  const last = known === null ? undefined : await reader.find('paymentEvent', known)
  if (known !== null && (last === undefined || subjectOf(last).status !== 'deleted')) return known
  // The provider refuses to do two different things under one key, and names a deleted one again.
  const idempotencyKey = `ff-customer-${orgId}-${revision}-${known ?? 'first'}`
  const { customerId } = await payments.createCustomer({ orgId, name, email, idempotencyKey })
  return customerId
}
