import { realpathSync } from "node:fs";
import { dirname } from "node:path";
import type { NextConfig } from "next";

// The app's own options, under the name that assembly gives them.
import app from "./next.config.app";

const config: NextConfig = {
  ...app,
  // The gate has already checked the types, by the app's own compiler.
  typescript: { ...app.typescript, ignoreBuildErrors: true },
  experimental: {
    ...app.experimental,
    // All trees share one node_modules, which lies outside of them.
    turbopackAdditionalRoots: { deps: { path: dirname(realpathSync("node_modules")) } },
  },
};

export default config;
