import { expect, it } from 'vitest'
import { hasPermission, isRoleWithin, ROLE_PERMISSIONS, role, rolesWith } from './roles.ts'

const UPWARD = ['viewer', 'editor', 'admin', 'owner', 'platform'] as const

it('Each role has all permissions of the lower roles and at least one more', () => {
  expect(Object.keys(ROLE_PERMISSIONS)).toEqual(UPWARD)
  expect([...role.options].sort()).toEqual([...UPWARD].sort())
  for (const [index, lower] of UPWARD.slice(0, -1).entries()) {
    const higher = UPWARD[index + 1] ?? lower
    expect(ROLE_PERMISSIONS[higher]).toEqual(expect.arrayContaining([...ROLE_PERMISSIONS[lower]]))
    expect(ROLE_PERMISSIONS[higher].length).toBeGreaterThan(ROLE_PERMISSIONS[lower].length)
  }
})

it('rolesWith lists the roles with a permission from the lowest to the highest', () => {
  expect(rolesWith('flags.write')).toEqual(['editor', 'admin', 'owner', 'platform'])
  expect(rolesWith('plans.write')).toEqual(['platform'])
  expect(hasPermission('viewer', 'flags.write')).toBe(false)
})

it('A role is within itself and within higher roles', () => {
  expect(isRoleWithin('admin', 'admin')).toBe(true)
  expect(isRoleWithin('viewer', 'admin')).toBe(true)
  expect(isRoleWithin('owner', 'admin')).toBe(false)
})
