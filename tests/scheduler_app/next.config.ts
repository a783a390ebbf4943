import { dirname } from "node:path";
import { realpathSync } from "node:fs";
import type { NextConfig } from "next";

const modules = dirname(realpathSync("node_modules"));

const config: NextConfig = {
  agentRules: false,
  typescript: { ignoreBuildErrors: true },
  experimental: { turbopackAdditionalRoots: { deps: { path: modules } } },
};

export default config;
