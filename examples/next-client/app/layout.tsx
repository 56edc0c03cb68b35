import type { ReactNode } from 'react'

/** The frame of all pages. */
export default function Layout({ children }: { readonly children: ReactNode }): ReactNode {
  return (
    <html lang="en">
      <body>{children}</body>
    </html>
  )
}
