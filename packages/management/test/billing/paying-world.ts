import type { NewPlan, Organization, Plan } from '@ff/protocol/management'
import type { Records, Storage } from '@ff/storage'
import type { Payments } from '../../src/ports/payments.ts'
import { stripePayments } from '../../src/stripe/stripe.ts'
import { type Json, type Tenant, World } from '../world/world.ts'
import { FakeStripe } from './fake-stripe.ts'
import { WEBHOOK_SECRET } from './stripe-events.ts'

/** A world with an organization, two plans with prices at Stripe, and a fake Stripe. */
export interface PayingWorld {
  readonly world: World
  readonly tenant: Tenant
  readonly stripe: FakeStripe
  readonly team: Plan
  readonly business: Plan
  organization(): Promise<Organization>
  /** Returns the organization and its invoices, without their times and revisions. */
  state(): Promise<Json>
}

export async function createPayingWorld(storage?: Storage): Promise<PayingWorld> {
  const stripe = await FakeStripe.start()
  const world = await World.create(storage, { payments: paymentsWith(stripe) })
  const tenant = await world.addTenant('Acme')
  const newPlan = (body: NewPlan) => world.management.createPlan({ body })
  const team = await newPlan({
    name: 'Team',
    trialDays: 14,
    stripeMonthlyPriceId: 'price_team',
    stripeAnnualPriceId: 'price_team_annual',
  })
  const business = await newPlan({ name: 'Business', stripePriceId: 'price_business' })
  const organization = async () => {
    const found = await world.storage.find('organization', tenant.orgId)
    if (found === undefined) throw new Error('no organization')
    return found
  }
  const state = async () => {
    const { data } = await world.storage.list('invoice', { where: { orgId: tenant.orgId } })
    const invoices = data
      .filter(({ stripeInvoiceId }) => stripeInvoiceId !== null)
      .map(contentOf)
      .sort((a, b) => (a.stripeInvoiceId < b.stripeInvoiceId ? -1 : 1))
    return { organization: contentOf(await organization()), invoices }
  }
  return { world, tenant, stripe, team, business, organization, state }
}

export function paymentsWith(stripe: FakeStripe): Payments {
  const { client } = stripe
  const returnUrl = 'https://flags.acme.test/'
  return stripePayments({ client, webhookSecret: WEBHOOK_SECRET, returnUrl })
}

function contentOf(record: Records['organization'] | Records['invoice']): Json {
  const { id: _, createdAt: __, updatedAt: ___, revision: ____, ...content } = record
  return content
}
