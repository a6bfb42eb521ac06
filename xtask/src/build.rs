//! Builds the site: the WebAssembly modules with their JavaScript in `www/pkg`, `www/lips/pkg` and `www/nets/pkg`, the third-party libraries in `www/vendor`,
//! minified scripts in `dist/minified`, and a list of all files with their hashes.

use crate::notices;
use crate::setup::{self, WASM, cargo_wasm};
use crate::shell::{
    Result, command, copy_dir, create_dir, fingerprint, prepend_path, read, read_text, remove_dir, root, run,
    timed, wasm_target, write,
};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};

/// The folders of the site, each with the first segment of the URL paths that it serves. The last one serves all other paths.
pub const SITE: [(&str, &str); 3] = [("js", "web/js"), ("models", "models"), ("", "www")];

/// A WebAssembly module with its JavaScript. Site and package contain the module gzipped, a seventh of its size, so that no host has to compress it.
struct Program {
    /// The package that is compiled to it.
    package: &'static str,
    /// The output folder.
    folder: &'static str,
    /// The name and licence file of everything else that its page contains.
    licences: &'static [(&'static str, &'static str)],
}

/// The module of the main page.
const VOICE: Program = Program { package: "ownvoice-web", folder: "www/pkg", licences: &[WAVESURFER] };

/// The module of the lip-reading page. It is separate and has no GPU kernels: the CPU is faster than real time there.
const LIPS: Program = Program {
    package: "ownvoice-web-lips",
    folder: "www/lips/pkg",
    licences: &[WAVESURFER, ("SeetaFace", "crate/ownvoice/data/LICENSE-SEETAFACE")],
};

/// The module of the page of things.
const NETS: Program = Program {
    package: "ownvoice-web-nets",
    folder: "www/nets/pkg",
    licences: &[("MobileNetV1, by The TensorFlow Authors", "LICENSE-APACHE")],
};

const WAVESURFER: (&str, &str) = ("wavesurfer", "www/vendor/wavesurfer-licence.txt");

impl Program {
    /// The name that the compiler and wasm-bindgen give to its files.
    fn stem(&self) -> String {
        self.package.replace('-', "_")
    }

    fn module(&self) -> String {
        format!("{}_bg.wasm", self.stem())
    }

    fn folder(&self) -> PathBuf {
        root().join(self.folder)
    }
}

/// Returns whether only other pages than the main one use a file. The service worker does not keep these files for offline visits.
fn is_of_other_pages(name: &str) -> bool {
    ["lips.html", "nets.html", "shared/camera.js"].contains(&name)
        || name.starts_with("lips/")
        || name.starts_with("nets/")
}

/// The third-party library of the page, in a build that sets a global: paths in `page-libraries/node_modules` and names in `www/vendor`.
const LIBRARIES: [(&str, &str); 2] = [
    ("wavesurfer.js/dist/wavesurfer.min.js", "wavesurfer.js"),
    ("wavesurfer.js/LICENSE", "wavesurfer-licence.txt"),
];

/// The folder of the minified scripts, each under its path in the site. The npm package contains the original scripts.
pub const MINIFIED: &str = "dist/minified";

/// The file beside a module that holds the licences of its libraries.
const NOTICES: &str = "third-party.txt";

/// The name of the list of files, in `www/pkg`.
pub const FILES: &str = "site-files.js";

/// `cargo xtask build`. Called as Trunk's hook, it also copies the site into Trunk's staging folder.
pub fn all() -> Result {
    page()?;
    match env::var_os("TRUNK_STAGING_DIR") {
        Some(staging) => site(Path::new(&staging)),
        None => Ok(()),
    }
}

/// Builds everything: `www/vendor`, `dist/minified`, and the modules of all pages.
pub fn page() -> Result {
    voice()?;
    other_pages()?;
    write(&complete_stamp(), "")
}

/// Builds everything except the modules of the other pages.
pub fn voice() -> Result {
    program(&VOICE, &[], "WebAssembly (the first build compiles burn: about 10 minutes on two cores)")?;
    list()
}

/// Builds `www/lips/pkg` and `www/nets/pkg`. They share most dependencies with [`page_for_cpu`].
pub fn other_pages() -> Result {
    program(
        &LIPS,
        &[],
        "WebAssembly of the lip-reading page (the first build compiles burn for the CPU: about 5 minutes on two cores)",
    )?;
    program(&NETS, &[], "WebAssembly of the page of things")
}

/// Builds everything except the modules of the other pages, without GPU kernels, which take most of the time of a first build.
pub fn page_for_cpu() -> Result {
    program(&VOICE, &["--no-default-features"], "WebAssembly without GPU kernels")?;
    list()
}

/// Returns whether [`page`] was built before, so that it is incremental now.
pub fn is_quick() -> bool {
    complete_stamp().is_file()
}

fn complete_stamp() -> PathBuf {
    wasm_target().join(".whole")
}

/// Writes the list of the site's files.
fn list() -> Result {
    write(&VOICE.folder().join(FILES), listed(root())?)
}

/// Builds a module with its JavaScript, types and licences, and the scripts and libraries of its page. Does nothing if nothing changed.
fn program(program: &Program, features: &[&str], what: &str) -> Result {
    libraries()?;
    scripts()?;
    let bindgen = setup::bindgen()?;
    let mut cargo = cargo_wasm()?;
    cargo
        .args(["build", "--release", "--target", WASM, "--package", program.package, "--lib"])
        .args(features);
    timed(what, || run(&mut cargo))?;

    let wasm = wasm_target().join(WASM).join(format!("release/{}.wasm", program.stem()));
    let stamp = program.folder().join(".built-from");
    let source = format!(
        "short imports, minified, nameless, with notices of {} {}",
        bindgen.display(),
        fingerprint(&wasm)?
    );
    if fs::read_to_string(&stamp).is_ok_and(|built| built == source) {
        return Ok(());
    }
    // In another folder: the server may be serving the previous module.
    let package = root().join("dist/pkg");
    remove_dir(&package)?;
    let mut glue = command("wasm-bindgen");
    prepend_path(&mut glue, &[&bindgen])?;
    // No default path: the worker passes the address of the gzipped module.
    glue.args([
        "--target",
        "web",
        "--omit-default-module-path",
        "--experimental-reset-state-function",
        "--remove-name-section",
        "--out-dir",
    ])
    .arg(&package)
    .arg(&wasm);
    timed("wasm-bindgen", || run(&mut glue))?;
    timed("gzip and terser", || {
        let (module, glue) = (package.join(program.module()), package.join(format!("{}.js", program.stem())));
        run(command("node").arg("xtask/imports.mjs").args([&module, &glue]))?;
        gzip(&module).and_then(|()| minify(&[(glue.clone(), glue)]))
    })?;
    let mut notices = notices::wasm(program.package)?;
    write(&package.join(NOTICES), &notices)?;
    if program.package == VOICE.package {
        // The npm package and the type checker expect it in web/pkg.
        let beside = root().join("web/pkg");
        remove_dir(&beside)?;
        copy_dir(&package, &beside)?;
        let module = beside.join(program.module());
        fs::remove_file(&module).map_err(|e| format!("{}: {e}", module.display()))?;
    }
    // Only the page has these beside the module, the npm package does not.
    for (name, licence) in program.licences {
        let text = read_text(&root().join(licence))?;
        notices.push_str(&format!("\n{}\n{name}\n\n{}\n", "=".repeat(80), text.trim()));
    }
    write(&package.join(NOTICES), notices)?;
    write(&package.join(".built-from"), source)?;
    let folder = program.folder();
    remove_dir(&folder)?;
    fs::rename(&package, &folder).map_err(|e| format!("{}: {e}", package.display()))
}

/// Copies the third-party libraries and their licences into `www/vendor`, because the page must not load anything from elsewhere.
fn libraries() -> Result {
    setup::page_modules()?;
    let folder = root().join("www/vendor");
    create_dir(&folder)?;
    for (from, name) in LIBRARIES {
        let source = root().join("page-libraries/node_modules").join(from);
        fs::copy(&source, folder.join(name)).map_err(|e| format!("{}: {e}", source.display()))?;
    }
    Ok(())
}

/// Minifies the scripts that changed since they were last minified.
fn scripts() -> Result {
    let folder = root().join(MINIFIED);
    let mut own = Vec::new();
    for (part, from) in SITE.into_iter().filter(|(part, _)| *part != "models") {
        walk(&root().join(from), part, &mut own)?;
    }
    own.retain(|(name, _)| {
        name.ends_with(".js")
            && !["pkg/", "vendor/", "lips/pkg/", "nets/pkg/"].iter().any(|made| name.starts_with(made))
    });
    let changed =
        own.into_iter().map(|(name, source)| (served(root(), &name, &source), folder.join(name), source));
    let stale: Vec<_> =
        changed.filter(|(now, small, _)| now != small).map(|(_, small, source)| (source, small)).collect();
    if stale.is_empty() { Ok(()) } else { timed("terser", || minify(&stale)) }
}

/// Returns the file to serve for a path: the minified copy of a script, or the script itself if it is newer.
pub fn served(root: &Path, name: &str, source: &Path) -> PathBuf {
    let small = root.join(MINIFIED).join(name);
    let changed = |path: &Path| fs::metadata(path).and_then(|about| about.modified()).ok();
    let fresh = small.is_file() && changed(&small) >= changed(source);
    if fresh { small } else { source.to_path_buf() }
}

/// Returns the list of files that `www/sw.js` keeps for offline visits: those of the page and the descriptions of the base voice, with their hashes. The
/// manifest of the base lists its other files, with hashes too.
pub fn listed(root: &Path) -> Result<String> {
    let mut found = Vec::new();
    for (part, folder) in SITE.into_iter().filter(|(part, _)| *part != "models") {
        walk(&root.join(folder), part, &mut found)?;
    }
    // Not listed: the list itself, the service worker that reads it, the unpacked module, what only the package's users import, and type declarations.
    let module = VOICE.module();
    let unlisted = ["sw.js", &format!("pkg/{FILES}"), &format!("pkg/{module}"), "js/speech-synthesis.js"];
    found.retain(|(name, _)| {
        !name.ends_with(".d.ts") && !unlisted.contains(&name.as_str()) && !is_of_other_pages(name)
    });
    for file in ["models/prompts.json", "models/base/manifest.json"] {
        found.push((file.to_string(), root.join(file)));
    }
    let hashed =
        found.into_iter().map(|(name, source)| Ok((name.clone(), hash(&served(root, &name, &source))?)));
    let files = hashed.collect::<Result<BTreeMap<_, _>>>()?;
    // A host that sends .gz files with Content-Encoding makes the browser unpack the module, so that its hash is that of the unpacked one.
    let unpacked_module = root.join("www/pkg").join(&module);
    let unpacked = if unpacked_module.is_file() {
        BTreeMap::from([(format!("pkg/{module}.gz"), hash(&unpacked_module)?)])
    } else {
        BTreeMap::new()
    };
    let json = |map: &BTreeMap<String, String>| {
        serde_json::to_string_pretty(map).expect("strings can be serialised")
    };
    Ok(format!(
        "// The files of this version of the page, by the first half of their SHA-256. Written by `cargo xtask build`.\nself.OWNVOICE_UNPACKED = {};\nself.OWNVOICE_FILES = {};\n",
        json(&unpacked),
        json(&files)
    ))
}

/// Collects the files of a folder with their paths in the site, without hidden files and links: `www/js` is a link to `web/js`, which is listed by itself.
fn walk(folder: &Path, part: &str, found: &mut Vec<(String, PathBuf)>) -> Result {
    for entry in fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?.flatten() {
        let path = entry.path();
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with('.') || path.is_symlink() {
            continue;
        }
        let name = if part.is_empty() { name } else { format!("{part}/{name}") };
        if path.is_dir() { walk(&path, &name, found)? } else { found.push((name, path)) }
    }
    Ok(())
}

/// Returns the first half of a file's SHA-256. 128 bits suffice against second preimages, and shorten the list that every visitor downloads.
fn hash(path: &Path) -> Result<String> {
    Ok(Sha256::digest(read(path)?)[..16].iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Copies all files of the site into one folder, for a static host.
fn site(to: &Path) -> Result {
    let mut files = Vec::new();
    for (part, folder) in SITE {
        walk(&root().join(folder), part, &mut files)?;
    }
    for (name, source) in files {
        let target = to.join(&name);
        create_dir(target.parent().expect("the path has a parent"))?;
        fs::copy(served(root(), &name, &source), target).map_err(|e| format!("{name}: {e}"))?;
    }
    Ok(())
}

/// Writes a gzipped copy of a file beside it. Node does it, which the build needs anyway.
fn gzip(path: &Path) -> Result {
    let script = "const [, file] = process.argv; const fs = require('fs'); \
                  fs.writeFileSync(`${file}.gz`, require('zlib').gzipSync(fs.readFileSync(file), { level: 9 }))";
    run(command("node").args(["-e", script]).arg(path))
}

/// Minifies scripts.
///
/// * `scripts`: pairs of input and output file
fn minify(scripts: &[(PathBuf, PathBuf)]) -> Result {
    run(command("node").arg("xtask/minify.mjs").args(scripts.iter().flat_map(|(from, to)| [from, to])))
}

/// Returns the size of the main page's gzipped module in bytes.
pub fn module_bytes() -> Result<u64> {
    let path = VOICE.folder().join(format!("{}.gz", VOICE.module()));
    fs::metadata(&path).map(|file| file.len()).map_err(|e| format!("{}: {e}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_has_the_files_of_the_page() {
        let root = env::temp_dir().join(format!("ownvoice-list-{}", std::process::id()));
        for (file, content) in [
            ("www/index.html", "page"),
            ("www/sw.js", "worker"),
            ("www/pkg/site-files.js", "old list"),
            ("www/pkg/x.wasm", "abc"),
            ("www/pkg/x.d.ts", "types"),
            ("www/pkg/.built-from", "stamp"),
            ("www/lips.html", "page of lips"),
            ("www/lips/app.js", "script of lips"),
            ("www/lips/pkg/y.wasm", "module of lips"),
            ("www/nets.html", "page of things"),
            ("www/nets/app.js", "script of things"),
            ("www/shared/camera.js", "script of both"),
            ("web/js/index.js", "module"),
            ("web/js/speech-synthesis.js", "module of the package alone"),
            ("web/js/types/index.d.ts", "types"),
            ("models/prompts.json", "[]"),
            ("models/base/manifest.json", "{}"),
            ("models/base/weights.safetensors", "weights"),
        ] {
            let path = root.join(file);
            create_dir(path.parent().unwrap()).unwrap();
            write(&path, content).unwrap();
        }
        // The minified script is served until the source is newer.
        let small = root.join(MINIFIED).join("js/index.js");
        create_dir(small.parent().unwrap()).unwrap();
        write(&small, "abc").unwrap();
        assert_eq!(served(&root, "js/index.js", &root.join("web/js/index.js")), small);
        let list = listed(&root).unwrap();
        let json = list.split_once("FILES = ").unwrap().1.trim_end().trim_end_matches(';');
        let files: BTreeMap<String, String> = serde_json::from_str(json).unwrap();
        let names: Vec<&str> = files.keys().map(String::as_str).collect();
        assert_eq!(
            names,
            ["index.html", "js/index.js", "models/base/manifest.json", "models/prompts.json", "pkg/x.wasm"]
        );
        let abc = "ba7816bf8f01cfea414140de5dae2223";
        assert_eq!((files["pkg/x.wasm"].as_str(), files["js/index.js"].as_str()), (abc, abc));
        let changed = fs::File::options().write(true).open(root.join("web/js/index.js")).unwrap();
        changed.set_modified(std::time::SystemTime::now() + std::time::Duration::from_secs(60)).unwrap();
        assert_eq!(served(&root, "js/index.js", &root.join("web/js/index.js")), root.join("web/js/index.js"));
        fs::remove_dir_all(root).unwrap();
    }
}
