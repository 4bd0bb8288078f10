// Compiles contracts/TestUSDC.sol into contracts/TestUSDC.json, which is committed: nobody needs solc to start.
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import solc from 'solc';

const require = createRequire(import.meta.url);
const source = 'contracts/TestUSDC.sol';
const input = {
  language: 'Solidity',
  sources: { [source]: { content: readFileSync(source, 'utf8') } },
  settings: {
    evmVersion: 'cancun',
    optimizer: { enabled: true, runs: 200 },
    outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object'] } },
  },
};
const findImports = (path) => ({ contents: readFileSync(require.resolve(path), 'utf8') });
const output = JSON.parse(solc.compile(JSON.stringify(input), { import: findImports }));
for (const { formattedMessage } of output.errors ?? []) console.error(formattedMessage);
const contract = output.contracts?.[source]?.TestUSDC;
if (!contract) process.exit(1);
const artifact = {
  contract: 'TestUSDC',
  compiler: solc.version(),
  abi: contract.abi,
  bytecode: `0x${contract.evm.bytecode.object}`,
};
writeFileSync('contracts/TestUSDC.json', `${JSON.stringify(artifact, null, 2)}\n`);
console.log(
  `contracts/TestUSDC.json: ${(artifact.bytecode.length - 2) / 2} bytes of code, ${artifact.abi.length} ABI entries`,
);
