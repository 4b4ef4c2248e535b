// @ts-check
/** Runs a program of the target wasm32-wasip1, such as Rust's tests: `node wasi.mjs FILE [ARGUMENTS]`. */

import { readFileSync } from "node:fs";
import process from "node:process";
import { WASI } from "node:wasi";

const [, , file, ...given] = process.argv;
const module = new WebAssembly.Module(readFileSync(file));
const wasi = new WASI({ version: "preview1", args: [file, ...given], returnOnExit: true });

// The C library for this target lacks functions of threads that the standard library names: none can be started, as the error
// "try again" says.
const TRY_AGAIN = 6;
const named = WebAssembly.Module.imports(module).filter((each) => each.module === "env");
const threads = named.map(({ name }) => [name, () => name === "pthread_create" ? TRY_AGAIN : 0]);
const imports = { ...wasi.getImportObject(), env: Object.fromEntries(threads) };

process.exitCode = wasi.start(new WebAssembly.Instance(module, imports));
