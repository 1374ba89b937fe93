// node az_token.js KEY account|container - a shared access signature, for a month, for the account
// imrectest or for its container imrec-test. KEY is the account's, in hexadecimal.
const { createHmac } = require("crypto");
const [key, what] = process.argv.slice(2);
const version = "2021-08-06";
const expiry = new Date(Date.now() + 30 * 86400e3).toISOString().slice(0, 19) + "Z";
const may = "racwdl";
const [query, signed] =
    what === "account"
        ? [{ ss: "b", srt: "sco" }, ["imrectest", may, "b", "sco", "", expiry, "", "", version, "", ""]]
        : [
              { sr: "c" },
              [may, "", expiry, "/blob/imrectest/imrec-test", "", "", "", version, "c", "", "", "", "", "", "", ""],
          ];
const sig = createHmac("sha256", Buffer.from(key, "hex")).update(signed.join("\n"), "utf8").digest("base64");
console.log(new URLSearchParams({ sv: version, ...query, sp: may, se: expiry, sig }).toString());
