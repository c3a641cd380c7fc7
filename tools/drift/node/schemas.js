// Prints types of the Node SDKs as JSON Schemas.
//
// usage: node types.mjs FOLDER FILE
//
// FOLDER has the node_modules with the SDKs and ts-json-schema-generator, and FILE is a
// JSON list of types such as OpenAI.ChatCompletion. Printed are their schemas by type,
// the schemas that those refer to, and the versions of the packages. The types are read
// by the TypeScript compiler, not from their text.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';

const [folder, file] = process.argv.slice(2);
const packages = ['@anthropic-ai/sdk', 'openai'];
const imports = [
  `import type OpenAI from 'openai';`,
  `import type { PageResponse as OpenAIPage } from 'openai/core/pagination';`,
  `import type Anthropic from '@anthropic-ai/sdk';`,
  `import type { PageResponse as AnthropicPage } from '@anthropic-ai/sdk/core/pagination';`,
];
const options = { module: 'nodenext', moduleResolution: 'nodenext', target: 'es2022', strict: true, skipLibCheck: true, noEmit: true };

const require = createRequire(join(resolve(folder), 'package.json'));
const { createGenerator } = require('ts-json-schema-generator');

const names = JSON.parse(readFileSync(file, 'utf8'));
const scratch = mkdtempSync(join(resolve(folder), '.types-')); // where imports are found
const types = {};
const schemas = {};

// renamed gives the definitions of a schema a prefix, and makes its references those of
// an OpenAPI document.
const renamed = (schema, prefix) => {
  const text = JSON.stringify(schema, (key, value) =>
    key === '$ref' ? `#/components/schemas/${prefix}.${decodeURIComponent(value.replace('#/definitions/', ''))}` : value);
  const { definitions, ...rest } = JSON.parse(text);
  return { ...rest, definitions: Object.fromEntries(Object.entries(definitions ?? {}).map(([key, value]) => [`${prefix}.${key}`, value])) };
};

try {
  const source = join(scratch, 'types.ts');
  const tsconfig = join(scratch, 'tsconfig.json');
  writeFileSync(source, [...imports, ...names.map((name, i) => `export type Asked${i} = ${name};`)].join('\n'));
  writeFileSync(tsconfig, JSON.stringify({ compilerOptions: options, files: [source] }));
  const generator = createGenerator({ path: source, tsconfig, skipTypeCheck: false, additionalProperties: true, topRef: false, functions: 'hide' });
  names.forEach((name, i) => {
    const found = generator.createSchema(`Asked${i}`);
    // The types of a package share a prefix, except where two have the same name.
    const prefix = [/^\w+/.exec(name)[0], i].find((prefix) => Object.entries(renamed(found, prefix).definitions)
      .every(([key, value]) => !(key in schemas) || JSON.stringify(schemas[key]) === JSON.stringify(value)));
    const { definitions, $schema, ...schema } = renamed(found, prefix);
    types[name] = schema;
    Object.assign(schemas, definitions);
  });
} finally {
  rmSync(scratch, { recursive: true });
}

const versions = Object.fromEntries(packages.map((name) => [name, JSON.parse(readFileSync(join(folder, 'node_modules', name, 'package.json'))).version]));
console.log(JSON.stringify({ types, schemas, versions }));
