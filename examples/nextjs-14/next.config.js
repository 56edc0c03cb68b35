/** @type {import('next').NextConfig} */
export default {
  // check.js checks the types.
  typescript: { ignoreBuildErrors: true },
  eslint: { ignoreDuringBuilds: true },
}
