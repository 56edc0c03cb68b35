/** Loads the dialogs of the layout, so that they can be shown when the server cannot be reached. */
export async function loadDialogs(): Promise<void> {
  // A dialog that could not be loaded is loaded again when it is shown.
  await Promise.allSettled([
    import('./log-in-again-dialog.tsx'),
    import('./log-out-dialog.tsx'),
    import('./shortcuts-dialog.tsx'),
    import('./side-bar-sheet.tsx'),
    import('../popups/tip.tsx'),
  ])
}
