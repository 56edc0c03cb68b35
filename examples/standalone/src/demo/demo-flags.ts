/**
 * A flag of the demo shop, which the first start creates. `demo.ts` creates the flags with the use
 * cases of the management endpoints.
 */
export interface DemoFlag {
  readonly key: string
  readonly name: string
  readonly description: string
  readonly type: 'boolean' | 'string' | 'number' | 'json'
  readonly tags: readonly string[]
  /** Variation key → value; `true` and `false` by default. */
  readonly variations?: Readonly<Record<string, string>>
  readonly defaultVariation: string
  /** Served while the flag is inactive or a prerequisite is not met. */
  readonly offVariation?: string
  readonly isActive?: boolean
  /** Another flag and the variation that it must serve. */
  readonly prerequisite?: { readonly flag: string; readonly variation: string }
  /** A variation and the keys of the users that receive it. */
  readonly target?: { readonly variation: string; readonly keys: readonly string[] }
  readonly rules?: readonly DemoRule[]
}

/** A targeting rule of a demo flag. */
export interface DemoRule {
  readonly name: string
  readonly conditions?: readonly DemoCondition[]
  /** The key of a segment. */
  readonly segment?: string
  /** The key of a variation, or a rollout. */
  readonly serve: string | DemoRollout
}

/** A condition of a demo rule. */
export interface DemoCondition {
  readonly attribute: string
  readonly operator: string
  readonly value: string
}

/** A rollout: a percentage, weights by variation key, or a gradual rollout. */
export type DemoRollout =
  | { readonly percentage: number; readonly variation: string }
  | { readonly weights: Readonly<Record<string, number>> }
  | { readonly growsBy: number; readonly everyHours: number; readonly variation: string }

const is = (attribute: string, value: string): DemoCondition => ({
  attribute,
  operator: 'eq',
  value,
})
const isIn = (attribute: string, ...values: readonly string[]): DemoCondition => ({
  attribute,
  operator: 'in',
  value: JSON.stringify(values),
})

/** The flags of the demo shop. */
export const DEMO_FLAGS: readonly DemoFlag[] = [
  {
    key: 'checkout-enabled',
    name: 'Checkout',
    description: 'A kill switch that disables all payments.',
    type: 'boolean',
    tags: ['checkout', 'kill-switch'],
    defaultVariation: 'true',
    offVariation: 'false',
  },
  {
    key: 'new-checkout',
    name: 'One-page checkout',
    description: 'Checkout on one page for a quarter of customers, if checkout is enabled.',
    type: 'boolean',
    tags: ['checkout'],
    defaultVariation: 'false',
    offVariation: 'false',
    prerequisite: { flag: 'checkout-enabled', variation: 'true' },
    rules: [
      { name: 'Early adopters', segment: 'early-adopters', serve: 'true' },
      { name: 'A quarter of customers', serve: { percentage: 25, variation: 'true' } },
    ],
  },
  {
    key: 'product-page-layout',
    name: 'Product page experiment',
    description: 'A comparison of three layouts of the product page.',
    type: 'string',
    tags: ['experiment', 'catalogue'],
    variations: { control: 'list', gallery: 'gallery', story: 'story' },
    defaultVariation: 'control',
    rules: [
      {
        name: 'Three-way experiment',
        serve: { weights: { control: 50, gallery: 30, story: 20 } },
      },
    ],
  },
  {
    key: 'search-ranking',
    name: 'Search ranking',
    description: 'The new ranking reaches five percent more customers every day.',
    type: 'string',
    tags: ['search'],
    variations: { classic: 'classic', semantic: 'semantic' },
    defaultVariation: 'classic',
    rules: [
      { name: 'Daily increase', serve: { growsBy: 5, everyHours: 24, variation: 'semantic' } },
    ],
  },
  {
    key: 'support-channel',
    name: 'Support channel',
    description: 'The support channel of a customer, by plan.',
    type: 'string',
    tags: ['support'],
    variations: { email: 'email', chat: 'chat', phone: 'phone' },
    defaultVariation: 'email',
    rules: [
      { name: 'Enterprise plan', conditions: [is('plan', 'enterprise')], serve: 'phone' },
      { name: 'Pro plan', conditions: [is('plan', 'pro')], serve: 'chat' },
    ],
  },
  {
    key: 'free-shipping-threshold',
    name: 'Free shipping threshold',
    description: 'The order value from which shipping is free, by country.',
    type: 'number',
    tags: ['shipping', 'pricing'],
    variations: { standard: '60', germany: '40', usa: '35' },
    defaultVariation: 'standard',
    rules: [
      { name: 'Germany', conditions: [is('country', 'DE')], serve: 'germany' },
      { name: 'United States', conditions: [is('country', 'US')], serve: 'usa' },
    ],
  },
  {
    key: 'express-delivery',
    name: 'Express delivery',
    description: 'Next-day delivery for paid plans in countries with a depot.',
    type: 'boolean',
    tags: ['shipping'],
    defaultVariation: 'false',
    rules: [
      {
        name: 'Paying customers near a depot',
        conditions: [isIn('country', 'DE', 'AT', 'NL', 'FR'), isIn('plan', 'pro', 'enterprise')],
        serve: 'true',
      },
    ],
  },
  {
    key: 'max-cart-items',
    name: 'Cart size',
    description: 'The maximum number of items in a cart.',
    type: 'number',
    tags: ['checkout'],
    variations: { retail: '50', wholesale: '5000' },
    defaultVariation: 'retail',
    rules: [{ name: 'Wholesale', segment: 'wholesale-partners', serve: 'wholesale' }],
  },
  {
    key: 'bulk-pricing',
    name: 'Bulk pricing',
    description: 'Discount steps for organizations that buy in bulk.',
    type: 'json',
    tags: ['pricing'],
    variations: {
      none: '{"steps":[]}',
      wholesale: '{"steps":[{"from":100,"discount":0.05},{"from":1000,"discount":0.12}]}',
    },
    defaultVariation: 'none',
    rules: [{ name: 'Wholesale', segment: 'wholesale-partners', serve: 'wholesale' }],
  },
  {
    key: 'welcome-banner',
    name: 'Welcome banner',
    description: 'The banner on the front page.',
    type: 'json',
    tags: ['marketing'],
    variations: {
      default: '{"title":"Welcome","link":"/new"}',
      german: '{"title":"Willkommen","link":"/neu"}',
    },
    defaultVariation: 'default',
    rules: [
      {
        name: 'German speakers',
        conditions: [{ attribute: 'language', operator: 'starts_with', value: 'de' }],
        serve: 'german',
      },
    ],
  },
  {
    key: 'payment-methods',
    name: 'Payment methods',
    description: 'The payment methods that a customer can use.',
    type: 'json',
    tags: ['checkout', 'payments'],
    variations: {
      card: '{"methods":["card"]}',
      'card-and-invoice': '{"methods":["card","invoice"]}',
    },
    defaultVariation: 'card',
    rules: [
      {
        name: 'Trusted organizations',
        conditions: [{ attribute: 'organization.orders', operator: 'gte', value: '10' }],
        serve: 'card-and-invoice',
      },
    ],
  },
  {
    key: 'loyalty-points',
    name: 'Loyalty points',
    description: 'Points for customers that signed up before 2026.',
    type: 'boolean',
    tags: ['marketing'],
    defaultVariation: 'false',
    rules: [
      {
        name: 'Founding customers',
        conditions: [
          { attribute: 'signed_up_at', operator: 'before', value: '2026-01-01T00:00:00Z' },
        ],
        serve: 'true',
      },
    ],
  },
  {
    key: 'app-offline-mode',
    name: 'Offline mode of the app',
    description: 'Requires version 2.4 of the app.',
    type: 'boolean',
    tags: ['app'],
    defaultVariation: 'false',
    rules: [
      {
        name: 'Recent versions',
        conditions: [{ attribute: 'app_version', operator: 'semver_gte', value: '2.4.0' }],
        serve: 'true',
      },
    ],
  },
  {
    key: 'admin-tools',
    name: 'Staff tools',
    description: 'Extra tools on each page, for two users and for company addresses.',
    type: 'boolean',
    tags: ['internal'],
    defaultVariation: 'false',
    target: { variation: 'true', keys: ['ada', 'grace'] },
    rules: [
      {
        name: 'Company addresses',
        conditions: [{ attribute: 'email', operator: 'ends_with_ci', value: '@shop.example' }],
        serve: 'true',
      },
    ],
  },
  {
    key: 'holiday-theme',
    name: 'Holiday theme',
    description: 'A theme for December, switched off until then.',
    type: 'boolean',
    tags: ['marketing'],
    defaultVariation: 'true',
    offVariation: 'false',
    isActive: false,
  },
  {
    key: 'maintenance-message',
    name: 'Maintenance message',
    description: 'A message on every page; not shown if empty.',
    type: 'string',
    tags: ['operations'],
    variations: { none: '', planned: 'We are back at 06:00 UTC.' },
    defaultVariation: 'none',
  },
]
