import assert from 'node:assert/strict'

/**
 * Checks that the dashboard is served below its path with the paths that the options name, and that
 * other paths are those of the app.
 */
export async function checkDashboard(url: string): Promise<void> {
  const page = await fetch(`${url}/flags-ui/p/site/flags`)
  const html = await page.text()
  assert.equal(page.status, 200)
  assert.match(html, /<base href="\/flags-ui\/"/)
  assert.match(html, /<meta name="ff-api" content="\/flags"/)
  assert.match(page.headers.get('content-security-policy') ?? '', /^default-src 'none';/)

  // A browser resolves the addresses of the page against its base.
  const [, script = ''] = /<script [^>]*src="([^"]+)"/.exec(html) ?? []
  const asset = await fetch(new URL(script, `${url}/flags-ui/`))
  assert.equal(asset.headers.get('content-type'), 'text/javascript; charset=utf-8')
  assert.match(asset.headers.get('cache-control') ?? '', /immutable/)
  assert.equal((await fetch(`${url}/flags-ui/assets/missing.js`)).status, 404)
  assert.equal((await fetch(`${url}/flags-ui`, { method: 'POST' })).status, 405)
  assert.equal(await (await fetch(url)).text(), 'Welcome.')
  console.log('Checked: the dashboard is served below /flags-ui.')
}
