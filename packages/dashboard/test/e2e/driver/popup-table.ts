import { expect } from 'vitest'
import { fields } from '../../../src/messages/en/fields.ts'
import { targeting } from '../../../src/messages/en/targeting.ts'
import { messages } from '../../../src/messages/messages.ts'
import type { Width } from '../browser.ts'
import { DEMO } from '../seed/shop.ts'
import { FlagEditor } from './flag-editor.ts'
import { Mouse } from './mouse.ts'
import { choose, type Open, type Popup, press } from './popup.ts'

/** A page of the project, and the popups that are opened on it one after another. */
export interface PopupPage {
  readonly path: string
  readonly width: Width
  readonly popups: readonly Popup[]
}

const { flagSwitch, shell, session, history, segments, keys, components } = messages
const { bar, review, conflict } = messages.publishing
const { targets, rules, prerequisites } = targeting
const { settings } = fields
const FLAG = 'new-checkout'
const FLAG_NAME = 'One-page checkout'
const RULE = 'A quarter of customers'
const SEGMENT_NAME = 'Early adopters'
const KEY = keys.defaultName(DEMO.production)
/** The name of the owner, on the button of the menu of the account. */
const ACCOUNT = 'Owner'

const dialog = (file: string, name: string | RegExp, open: Open): Popup => {
  return { file, role: 'dialog', name, open }
}
const question = (file: string, name: string, open: Open): Popup => {
  return { file, role: 'alertdialog', name, open }
}

const pressSwitch: Open = async ({ page }) => {
  const name = flagSwitch.label('Checkout', DEMO.name)
  await page.getByRole('switch', { name, exact: true }).click()
}

/** Opens the question of a switch. Another user then switches the flag. */
const pressLateSwitch: Open = async (opener) => {
  await pressSwitch(opener)
  await opener.page.getByRole('alertdialog').waitFor()
  await opener.shop.configure('checkout-enabled', (now) => ({
    ...now,
    state: { ...now.state, is_active: false },
  }))
}

const SWITCH = 'flag-switch/flag-switch-dialog.tsx'
const FLAGS: readonly Popup[] = [
  dialog('command-bar/command-bar.tsx', messages.commandBar.title, ({ page }) =>
    page.keyboard.press('ControlOrMeta+k'),
  ),
  dialog('layout/shortcuts-dialog.tsx', shell.keyboardShortcuts, ({ page }) =>
    page.keyboard.press('?'),
  ),
  { file: 'popups/menu-widget.tsx', role: 'menu', open: press(ACCOUNT) },
  { file: 'popups/select-widget.tsx', role: 'listbox', open: press(/Theme$/) },
  {
    ...{ file: 'controls/choice-menu.tsx', role: 'group', name: messages.flags.columns },
    open: press(messages.flags.columns),
  },
  question(SWITCH, flagSwitch.titleOff('Checkout'), pressSwitch),
  dialog(SWITCH, flagSwitch.titleOff('Checkout'), pressLateSwitch),
]

const SHEET = dialog('layout/side-bar-sheet.tsx', shell.navigation, press(shell.openNavigation))

const LOG_IN = dialog('layout/log-in-again-dialog.tsx', session.again, async ({ page }) => {
  await page.context().clearCookies()
  await page.getByRole('link', { name: shell.segments, exact: true }).click()
})

/** Opens the list of flags, which does not open before the flags are loaded. */
const openFlags: Open = async ({ page }) => {
  const field = page.getByRole('combobox', { name: prerequisites.add })
  const open = async () => {
    await field.press('ArrowDown')
    return field.getAttribute('aria-expanded')
  }
  await expect.poll(open).toBe('true')
}

const startDraft: Open = async (opener) => {
  const editor = new FlagEditor(opener.page, new Mouse(opener.page))
  await editor.editRule(RULE)
  await editor.setShare(31)
  await press(bar.discard)(opener)
}

/** Opens the merge of the version that another editor publishes during the draft. */
const startMerge: Open = async (opener) => {
  await opener.shop.configure(FLAG, (now) => ({
    ...now,
    rollouts: now.rollouts.map((rollout) => ({ ...rollout, percentage: 35 })),
  }))
  await press(conflict.open)(opener)
}

const TARGETING: readonly Popup[] = [
  { file: 'components/combo-box.tsx', role: 'listbox', open: openFlags },
  {
    ...dialog('pages/flag/targeting/targets-dialog.tsx', targets.dialogAdd, press(targets.add)),
    close: components.cancel,
  },
  dialog(
    'pages/flag/targeting/move-dialog.tsx',
    rules.moveTitle,
    choose(rules.actions(RULE), rules.moveTo),
  ),
  question('publishing/draft-bar.tsx', bar.discardTitle, startDraft),
  dialog('publishing/review-dialog.tsx', review.title(DEMO.name), press(bar.review)),
  question('layout/log-out-dialog.tsx', session.logOutTitle, choose(ACCOUNT, session.logOut)),
  dialog('publishing/merge-dialog.tsx', conflict.title, startMerge),
]

const SETTINGS: readonly Popup[] = [
  question(
    'pages/flag/settings/archive-card.tsx',
    settings.archiveQuestion(FLAG_NAME),
    press(settings.archive),
  ),
  question(
    'pages/flag/settings/delete-card.tsx',
    settings.deleteQuestion(FLAG_NAME),
    press(settings.delete),
  ),
]

const HISTORY: readonly Popup[] = [
  dialog('pages/history/compare-dialog.tsx', history.compareTitle, press(history.compare)),
  dialog('pages/history/restore-dialog.tsx', /^Restore version/, press(history.restore.button)),
]

const SEGMENTS: readonly Popup[] = [
  {
    ...{ file: 'popups/tip.tsx', role: 'tooltip' },
    open: ({ page }) => page.locator('time').first().hover(),
  },
  dialog('pages/segments/new-segment-dialog.tsx', segments.create, press(segments.create)),
]

const { included } = segments.lists
const changeDescription: Open = async (opener) => {
  await opener.page.getByRole('textbox', { name: segments.description }).fill('Another text')
  await press(segments.discard)(opener)
}

const SEGMENT: readonly Popup[] = [
  dialog('pages/segments/listed-keys.tsx', included.add, press(included.add)),
  question(
    'pages/segments/delete-segment-dialog.tsx',
    segments.deleteTitle(SEGMENT_NAME),
    press(segments.deleteSegment),
  ),
  question('pages/segments/segment-bar.tsx', segments.discardTitle, changeDescription),
  dialog(
    'pages/segments/segment-review.tsx',
    segments.reviewTitle(SEGMENT_NAME),
    press(segments.review),
  ),
]

const NEW_KEY = 'pages/settings/new-key-dialog.tsx'
const ROTATE_KEY = 'pages/settings/rotate-key-dialog.tsx'
const rotate = press(keys.rotateOf(KEY))
const KEYS: readonly Popup[] = [
  dialog(NEW_KEY, keys.createTitle(DEMO.name), press(keys.create)),
  {
    ...dialog(NEW_KEY, keys.issuedTitle(KEY), press(keys.create, keys.createKey)),
    close: keys.close,
  },
  dialog(ROTATE_KEY, keys.rotateOf(KEY), rotate),
  {
    ...dialog(ROTATE_KEY, keys.issuedTitle(KEY), press(keys.rotateOf(KEY), keys.rotateKey)),
    close: keys.close,
  },
  question('pages/settings/revoke-key-dialog.tsx', keys.revokeOf(KEY), press(keys.revokeOf(KEY))),
]

/** All dialogs and popups of the application, by the page on which a test opens them. */
export const POPUP_PAGES: readonly PopupPage[] = [
  { path: 'flags', width: 'narrow', popups: [SHEET] },
  { path: 'flags', width: 'wide', popups: FLAGS },
  { path: `flags/${FLAG}?env=live`, width: 'wide', popups: TARGETING },
  { path: `flags/${FLAG}?env=live&tab=settings`, width: 'wide', popups: SETTINGS },
  { path: 'history?env=live', width: 'wide', popups: HISTORY },
  { path: 'segments', width: 'wide', popups: SEGMENTS },
  { path: 'segments/early-adopters', width: 'wide', popups: SEGMENT },
  { path: 'settings/keys?env=live', width: 'wide', popups: KEYS },
  { path: 'playground', width: 'wide', popups: [LOG_IN] },
]
