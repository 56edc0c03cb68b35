/** The project of the demo shop. */
export const DEMO_PROJECT = { key: 'shop', name: 'Shop' } as const

/** The first owner of the demo organization, who sets a password with a one-time link. */
export const DEMO_OWNER = { email: 'owner@shop.example', name: 'Owner' } as const

/** The segments of the demo shop. */
export const DEMO_SEGMENTS = [
  {
    key: 'wholesale-partners',
    name: 'Wholesale partners',
    description: 'Organizations that buy in bulk.',
    rules: [
      { attribute: 'organization.key', operator: 'in', value: '["acme","globex","initech"]' },
    ],
  },
  {
    key: 'early-adopters',
    name: 'Early adopters',
    description: 'Customers that test new features.',
    rules: [{ attribute: 'user.beta', operator: 'eq', value: 'true' }],
  },
] as const
